"""How one call is made: attempts, retries, deadlines, read-backs. No I/O."""

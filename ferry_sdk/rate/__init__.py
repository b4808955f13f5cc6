"""A rate limiter for all clients of a process, or of several machines."""

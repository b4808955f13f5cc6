"""Orders: asked for on a terminal, or read from a file."""

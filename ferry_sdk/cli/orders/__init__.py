"""What is to be booked: asked for, or read from a file."""

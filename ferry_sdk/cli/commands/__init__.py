"""One command or family of commands a module."""

"""The commands, one or one family a module."""

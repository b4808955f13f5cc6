"""The calls of a client, one group a module."""

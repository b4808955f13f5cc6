"""Requests: arguments, access, validation and errors."""

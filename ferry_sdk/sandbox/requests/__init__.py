"""Requests: operations, arguments, access, validation and errors."""

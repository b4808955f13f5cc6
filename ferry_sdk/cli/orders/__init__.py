"""Searches and orders, from the command line or a file."""

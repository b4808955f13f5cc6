"""Prompts, output, options and exit codes."""

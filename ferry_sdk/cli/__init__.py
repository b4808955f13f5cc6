"""The command line, `ferry`: one command or family of commands a module."""

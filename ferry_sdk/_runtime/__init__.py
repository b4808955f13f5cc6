"""What the library needs of Python and of the operating system: threads, forks, private files."""

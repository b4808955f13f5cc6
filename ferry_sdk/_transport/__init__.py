"""The only code that does I/O: it performs what the engine asks for."""

"""The two languages the service speaks, as pure descriptions and readings of bytes."""

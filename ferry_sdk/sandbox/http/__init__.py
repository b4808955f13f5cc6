"""HTTP itself: sockets, headers, JSON."""

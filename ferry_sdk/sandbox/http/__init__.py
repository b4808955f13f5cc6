"""HTTP: the server, its connections and the conventions of every response."""

"""Tools made from the client's methods: arguments, views of results, and JSON Schemas."""

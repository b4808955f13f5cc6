"""The shapes of every response, as types: the service builds them, and the document shows them."""

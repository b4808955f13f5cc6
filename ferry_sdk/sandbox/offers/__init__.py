"""What a search finds: sailings with their tariffs and places."""

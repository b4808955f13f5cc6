"""Offers: sailings with their tariffs and places, and the search for them."""

"""Bookings and tickets, and what is done with them."""

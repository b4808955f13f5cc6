"""What can be made to go wrong."""

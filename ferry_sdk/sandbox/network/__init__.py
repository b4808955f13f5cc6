"""What exists whatever the day, and what sails on it."""

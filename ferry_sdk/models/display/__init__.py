"""How a record shows itself: HTML cards, tables, data frames."""

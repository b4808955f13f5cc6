"""Places, routes, trips and price calendars, made of catalogues and searches."""

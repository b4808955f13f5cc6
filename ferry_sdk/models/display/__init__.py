"""Display of records: HTML cards, tables, data frames."""

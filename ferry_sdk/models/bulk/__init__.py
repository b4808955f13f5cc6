"""Validate long lists of records column by column."""

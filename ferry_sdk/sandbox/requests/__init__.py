"""What may be asked, by whom, and how it is refused."""

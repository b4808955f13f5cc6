"""Everything a client can be asked, one group a module."""

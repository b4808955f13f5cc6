"""The checks of `ferry doctor`."""

"""Faults: the failures that tests can inject."""

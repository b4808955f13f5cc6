"""Fixtures: the delays of the flow, which most tests let pass in virtual time."""

import pytest


@pytest.fixture
def retry_at_once():
    """A call waits between attempts as long as it does for users."""

"""The strait, where four companies sail, and companies that are slow to answer."""

from contextlib import suppress
from datetime import date

from ferry_sdk import RequestTimeoutError

ADULT = [{"type": "Adult", "gender": "Female", "age": 34}]
DAY = date(2050, 6, 6)
STRAIT = {"origin": "Algeciras", "destination": "Tangier Med", "on": DAY, "passengers": ADULT}


def companies(searches):
    return {search.company for search in searches}


def slow(sandbox, **company):
    """Let a company, or every company, take a minute to answer a search."""
    sandbox.faults.add("delay_before", "availability.search", times=None, seconds=60, **company)


def found_without(company, search):
    """Search with longer limits, until only this company was asked and did not answer in time."""
    for seconds in (0.15, 0.6, 3.0, 20.0):  # a longer one on a busy machine
        with suppress(RequestTimeoutError):  # raised if no company has answered by then
            found = search(seconds)
            if has_waited_for(company, found.report):
                break
    assert has_waited_for(company, found.report)
    assert all(isinstance(search.error, RequestTimeoutError) for search in found.report.failed)
    return found


def has_waited_for(company, report):
    """Return whether only this company failed, and its request had left."""
    were_sent = all(search.error.outcome == "unknown" for search in report.failed)
    return companies(report.failed) == {company} and were_sent

"""Ten thousand wishes over three hundred routes: their memory, statements and requests."""

import tracemalloc
from datetime import timedelta

import pytest
from sqlalchemy import event

from ferry_sdk.offers import Below
from ferry_sdk.offers.searches import Person, WishSearch
from ferry_sdk.offers.wish import wish_text
from ferry_sdk.types import WishRecord
from tests.offers.virtual import DAY, HOUR, START, Offered, Reply, Service, wish

WISHES = 10_000
ROUTES = 300
DAYS = 7
LIMIT = 500


def searches_of(number):
    """Return the searches of a wish: a week of one route with one company."""
    route = number % ROUTES
    return [
        WishSearch(
            company=f"C{route % 30}",
            journey_id=f"j{route}",
            day=DAY + timedelta(days=day),
            party=(Person("Adult", "Female", 34),),
            vehicle=None,
            depart_code=f"A{route}",
            arrive_code=f"B{route}",
            depart_name=f"From {route}",
            arrive_name=f"To {route}",
        ).to_record()
        for day in range(DAYS)
    ]


@pytest.fixture
def full(journal):
    """A journal of ten thousand wishes, whose searches are known."""
    wanted = wish(Below("90", "EUR"), days=(DAY, DAY + timedelta(days=DAYS - 1)))
    looked_up = []
    for number in range(WISHES):
        record = WishRecord(f"w{number}", wish_text(wanted), wanted.last_day)
        journal.offers.save_wish(record)
        looked_up.append((record, searches_of(number)))
    journal.offers.save_searches(START, looked_up, {})
    return journal


@pytest.mark.long
@pytest.mark.timeout(600)
def test_hour_of_many_wishes_stays_within_bounds(full, record_property):
    statements = []
    event.listen(
        full._engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2])
    )
    service = Service(lambda *_: Reply((Offered("120"),)))
    tracemalloc.start()
    events = [*service.watch(full, deadline=HOUR, every=6 * HOUR, most=LIMIT)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert events == []
    assert len(service.asked) == LIMIT
    assert len(statements) < 12 * LIMIT
    assert peak < 64 * 2**20
    record_property("requests an hour for 10,000 wishes", len(service.asked))
    record_property("statements an hour for 10,000 wishes", len(statements))
    record_property("KiB at most for 10,000 wishes", peak // 1024)

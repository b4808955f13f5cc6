"""Random sequences of calls and faults stay within the limits."""

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.sandbox import Sandbox
from tests.agents.agent import order, query, result_of
from tests.support.tiers import examples
from tests.support.trip import NOW

pytestmark = pytest.mark.usefixtures("read_back_once")

FAULTS = ("lose_reply", "cut_before", "server_error_after", "rate_limited", "price_change")
STEPS = st.one_of(
    st.tuples(st.just("search"), st.just(0)),
    st.tuples(st.just("book"), st.integers(0, 3)),
    st.tuples(st.sampled_from(["confirm", "cancel"]), st.integers(0, 2)),
    st.tuples(st.just("fault"), st.integers(0, len(FAULTS) - 1)),
)


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@examples(40)
@given(
    course=st.lists(STEPS, min_size=2, max_size=14),
    yeses=st.lists(st.sampled_from([True, True, True, False]), min_size=14, max_size=14),
    times=st.sampled_from(["0.5", "1.5", "2.5"]),
)
def test_no_course_exceeds_the_limit_unapproved(service, course, yeses, times):
    service.reset()
    call_with_code = Counter()
    saying = iter(yeses)

    def approve(request):
        yes = next(saying)
        call_with_code[request.tool.replace("_", ".", 1)] += yes
        return yes

    with Ferry(service.token, base_url=service.base_url, max_retries=0) as ferry:
        price = Decimal(_search(Toolkit(ferry, tools="all"))[0]["tariffs"][0]["amount"])
        limit = price * Decimal(times)
        toolkit = Toolkit(
            ferry, tools="all", writes=True, approve=approve, spend_limit={"EUR": limit}
        )
        found, bookings = _search(toolkit), []
        for step, which in course:
            if step == "search":
                found = _search(toolkit)
            elif step == "fault":
                pattern = "bookings.create" if FAULTS[which] == "price_change" else "bookings.c*"
                service.faults.add(FAULTS[which], pattern)
            elif step == "book":
                answer = toolkit.call("bookings_create", order(found[which % len(found)]))
                if answer["status"] == "done":
                    bookings.append(answer["result"]["booking_id"])
            elif bookings:
                toolkit.call(f"bookings_{step}", {"booking_id": bookings[which % len(bookings)]})
        service.faults.clear()
        effects = service.counters.effects
        paid = {one.subject for one in effects if one.operation == "bookings.confirm"}
        spent = sum((ferry.bookings.get(one).total_price for one in paid), Decimal(0))
    assert spent <= limit
    happened = Counter(one.operation for one in effects)
    assert all(count <= call_with_code[operation] for operation, count in happened.items())
    assert all(
        count == 1 for count in Counter((one.operation, one.subject) for one in effects).values()
    )


def _search(toolkit):
    return result_of(toolkit.call("availability_search", query()))["items"]

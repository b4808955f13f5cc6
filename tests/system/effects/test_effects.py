"""Generated schedules of trouble, each judged by what the service itself counted."""

import pytest

from tests.support.tiers import mostly_long
from tests.system.effects.running import explore
from tests.system.effects.schedules import GROUPS

EACH = 16
pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.mark.parametrize("part", mostly_long([range(1), range(1, 8), range(8, EACH)], ids=str))
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    "index", range(len(GROUPS)), ids=[group[0] if len(group) == 1 else "reads" for group in GROUPS]
)
def test_nothing_happens_twice_and_nobody_is_told_what_is_not_so(
    world, record_property, index, is_async, part
):
    numbers = [(2 * index + is_async) * EACH + number for number in part]
    ran, findings = explore(world, GROUPS[index], numbers, is_async=is_async)
    record_property("schedules of the effect test run", ran)
    assert not findings, "\n".join(map(str, findings))

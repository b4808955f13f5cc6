"""The journey that agents of other frameworks make; `scripts/matrix --session agents` runs them."""

import pytest

from tests.agents.frameworks.driver import HERE, JOURNEY, tomllib
from tests.agents.frameworks.journey import Script
from tests.support.effects import effects
from tests.support.trip import DAY


@pytest.mark.usefixtures("known_routes")
@pytest.mark.parametrize("answer", JOURNEY)
def test_the_journey_of_the_frameworks_fits_the_tools(answer, toolkit_of, ferry_sandbox):
    toolkit = toolkit_of({"deadline": 30}, writes=True, tools="journey")
    script, found = Script(agreed=answer == "given", day=DAY), None
    while call := script.next(found):
        found = toolkit.call(*call)
    assert effects(ferry_sandbox) == JOURNEY[answer]


def test_every_framework_has_a_program():
    missing = []
    for framework, row in tomllib.loads((HERE / "table.toml").read_text("utf-8")).items():
        program, function = row["program"].split()
        word = "" if program.endswith(".mjs") else "def "
        if f"async {word}{function}(" not in (HERE / program).read_text("utf-8"):
            missing.append(framework)
    assert missing == []

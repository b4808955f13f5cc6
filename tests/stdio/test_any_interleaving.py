"""Whatever the order of questions, answers, replays, restarts and kills: one effect an answer."""

import pytest

from tests.stdio.interleavings import SERVERS, run_series
from tests.support.tiers import LONG

SEEDS = [pytest.param(seed, marks=LONG if seed else ()) for seed in range(4)]


@pytest.mark.parametrize("transport", SERVERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_write_is_doubled_or_made_without_approval(seed, transport):
    counts, wrong = run_series(seed, transport)
    assert counts["asked"] > 0
    assert wrong == []

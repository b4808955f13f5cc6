"""A call that the interpreter makes at its end gives a result or a `FerryError`, and returns."""

import subprocess
import sys

import pytest

from tests.support.tiers import mostly_long
from tests.transport.scripted import Service, serve

PROGRAM = """
import atexit, sys
from ferry_sdk import Ferry, FerryError


class Shop:
    calls_at_its_end = "del" in sys.argv

    def __init__(self, deadline):
        self.ferry = Ferry("t", base_url=sys.argv[1], deadline=deadline)

    def count(self):
        try:
            count = len(self.ferry.catalogue.ports())
        except FerryError as error:
            print("error", error.outcome, sys.is_finalizing())
        else:
            print("ports", count, sys.is_finalizing())

    def __del__(self):
        if self.calls_at_its_end:
            self.count()


shop = Shop(5 if "deadline" in sys.argv else None)
if "warm" in sys.argv:
    shop.count()
if "atexit" in sys.argv:
    atexit.register(shop.count)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    mostly_long(
        [
            pytest.param("warm del", ["ports 0 False", "ports 0 True"], id="warm del"),
            pytest.param("atexit deadline", ["ports 0 False"], id="atexit deadline"),
            pytest.param("del", ["error not_sent True"], id="del"),
            pytest.param(
                "warm del deadline",
                ["ports 0 False", "error not_sent True"],
                id="warm del deadline",
            ),
            pytest.param("del deadline", ["error not_sent True"], id="del deadline"),
            pytest.param("atexit", ["ports 0 False"], id="atexit"),
            pytest.param("warm atexit", ["ports 0 False", "ports 0 False"], id="warm atexit"),
        ],
    ),
)
def test_a_call_at_the_end_returns(words, said):
    with Service(serve) as service:
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, service.url, *words.split()],
            capture_output=True,
            text=True,
            timeout=50,
            check=True,
        )
    assert ended.stdout.splitlines() == said
    assert not ended.stderr

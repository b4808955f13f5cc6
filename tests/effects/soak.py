"""Thousands of schedules on four processes: how many were run, and every promise broken."""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import secrets
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product

from .exploring import Finding, explored
from .schedules import GROUPS
from .world import World

_PROCESSES = 4
_PORTION = 10
_SEEDS = 100_000
_APART = 1_000_000

_world = World()

Portion = tuple[tuple[str, ...], bool, range]


def main() -> int:
    """Run as many schedules as the command line says; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("schedules", nargs="?", type=int, default=5000, help="how many")
    parser.add_argument("seed", nargs="?", type=int, default=secrets.randbelow(_SEEDS))
    arguments = parser.parse_args()
    _say(f"{arguments.schedules} schedules, seed {arguments.seed}")
    began, ran, broken = time.monotonic(), 0, 0
    processes = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, processes, _world_opened) as pool:
        waiting = [
            pool.submit(_explored, portion)
            for portion in portions(arguments.schedules, arguments.seed)
        ]
        for number, done in enumerate(as_completed(waiting), 1):
            count, findings = done.result()
            ran += count
            broken += len(findings)
            for finding in findings:
                _say(f"\n{finding}\n")
            if number % 20 == 0:
                _say(f"{ran} run, {broken} of them broke a promise")
    spent = time.monotonic() - began
    _say(f"{ran} schedules run in {spent:.0f} s, {broken} of them broke a promise")
    return 1 if broken else 0


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def portions(schedules: int, seed: int) -> list[Portion]:
    """The schedules, dealt out evenly to every group of calls and either client."""
    kinds = [*product(GROUPS, (False, True))]
    dealt: list[Portion] = []
    for index, (group, is_async) in enumerate(kinds):
        share = schedules // len(kinds) + (index < schedules % len(kinds))
        first = (seed * len(kinds) + index) * _APART
        for begin in range(0, share, _PORTION):
            numbers = range(first + begin, first + min(begin + _PORTION, share))
            dealt.append((group, is_async, numbers))
    return sorted(dealt, key=lambda portion: portion[2].start % _APART)


def _world_opened() -> None:
    logging.disable()  # what the client says of replies that were spoilt to order
    _world.__enter__()  # it lasts as long as the process


def _explored(portion: Portion) -> tuple[int, list[Finding]]:
    group, is_async, numbers = portion
    return explored(_world, group, numbers, is_async=is_async)


if __name__ == "__main__":
    sys.exit(main())

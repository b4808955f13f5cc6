"""Thousands of schedules, or of runs against the hostile server, on four processes."""

import argparse
import logging
import multiprocessing
import secrets
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product

from tests.system.hostile import running as hostile

from .running import explore
from .schedules import GROUPS
from .world import World

_PROCESSES = 4
_PORTION = 10
_SEEDS = 100_000
_APART = 1_000_000

_world = World()
_stage = hostile.Stage()


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("schedules", nargs="?", type=int, default=5000, help="how many")
    parser.add_argument("--seed", type=int, help="the same seed makes the same schedules or runs")
    parser.add_argument("--hostile", type=int, metavar="RUNS", help="runs, in place of schedules")
    arguments = parser.parse_args()
    seed = secrets.randbelow(_SEEDS) if arguments.seed is None else arguments.seed
    if arguments.hostile is not None:
        _say(f"{arguments.hostile} runs against the hostile server, seed {seed}")
        end = seed + arguments.hostile
        starts = range(seed, end, _PORTION)
        dealt = [range(begin, min(begin + _PORTION, end)) for begin in starts]
        return _soak(_stage, _explore_stage, dealt, "runs")
    _say(f"{arguments.schedules} schedules, seed {seed}")
    return _soak(_world, _explore_world, portions(arguments.schedules, seed), "schedules")


def _soak(place, run, dealt, what):
    began, ran, broken = time.monotonic(), 0, 0
    processes = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, processes, _open, (place is _world,)) as pool:
        waiting = [pool.submit(run, portion) for portion in dealt]
        for number, done in enumerate(as_completed(waiting), 1):
            count, findings = done.result()
            ran += count
            broken += len(findings)
            for finding in findings:
                _say(f"\n{finding}\n")
            if number % 20 == 0:
                _say(f"{ran} run, {broken} of them broke a promise")
    spent = time.monotonic() - began
    _say(f"{ran} {what} run in {spent:.0f} s, {broken} of them broke a promise")
    return 1 if broken else 0


def _say(words):
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def portions(schedules, seed):
    kinds = [*product(GROUPS, (False, True))]
    dealt = []
    for index, (group, is_async) in enumerate(kinds):
        share = schedules // len(kinds) + (index < schedules % len(kinds))
        first = (seed * len(kinds) + index) * _APART
        for begin in range(0, share, _PORTION):
            numbers = range(first + begin, first + min(begin + _PORTION, share))
            dealt.append((group, is_async, numbers))
    return sorted(dealt, key=lambda portion: portion[2].start % _APART)


def _open(is_world):
    if is_world:
        logging.disable()  # what the client says of replies that were spoilt to order
    (_world if is_world else _stage).__enter__()  # it lasts as long as the process


def _explore_world(portion):
    group, is_async, numbers = portion
    return explore(_world, group, numbers, is_async=is_async)


def _explore_stage(numbers):
    return hostile.explore(_stage, numbers)


if __name__ == "__main__":
    sys.exit(main())

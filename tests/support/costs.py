"""Counts what Python does in a piece of work: bytecodes, and calls of functions in C.

Both are the same on any machine and under any load. Bytecodes show loops that a count of functions
does not; they do not show what one function in C does, such as a regular expression over a long
text. Work in other threads is not counted.
"""

import gc
import sys
from contextlib import contextmanager


class Costs:
    """What is counted in a `with` block.

    Attributes:
        bytecodes: The bytecodes that were executed.
        c_calls: The calls of functions that are written in C.
    """

    def __init__(self, harness=()):
        """Count, but not what the modules do whose top-level packages are named."""
        self._harness = frozenset(harness)
        self.bytecodes = 0
        self.c_calls = 0

    def trace(self, frame, event, _argument):
        """Count the bytecodes of a frame; for `sys.settrace`."""
        if event == "call":
            if self._is_of_harness(frame):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode":
            self.bytecodes += 1
        return self.trace

    def profile(self, frame, event, _argument):
        """Count a call of a function in C; for `sys.setprofile`."""
        if event == "c_call" and not self._is_of_harness(frame):
            self.c_calls += 1

    def _is_of_harness(self, frame):
        return frame.f_globals.get("__name__", "").partition(".")[0] in self._harness


@contextmanager
def counting(costs):
    """Count what this thread does; the collector, which runs when it likes, is off meanwhile."""
    tracing, profiling = sys.gettrace(), sys.getprofile()
    was_collecting = gc.isenabled()
    gc.disable()
    sys.settrace(costs.trace)
    sys.setprofile(costs.profile)
    try:
        yield costs
    finally:
        sys.setprofile(profiling)
        sys.settrace(tracing)
        if was_collecting:
            gc.enable()

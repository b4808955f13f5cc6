"""Counts what Python does in a piece of work: bytecodes, and calls of functions in C.

    with counting(Costs(harness=["tests"])) as costs:
        ferry.catalogue.ports()
    assert costs.bytecodes < 4000

Both are the same on any machine and under any load. Bytecodes show loops that a count of functions
does not; they do not show what one function in C does, such as a regular expression over a long
text. Work in other threads is not counted, nor what runs already when the counting begins.
"""

import gc
import sys


class Costs:
    """What is counted in a `with` block.

    Attributes:
        bytecodes: The bytecodes that were executed.
        c_calls: The calls of functions that are written in C.
        is_counting: Whether the block runs. Frames that outlive it, such as those of an event loop,
            keep their tracer, and Python calls that one again in a later block.
    """

    def __init__(self, harness=()):
        """Count, but not what the modules do whose top-level packages are named."""
        self._harness = frozenset(harness)
        self.bytecodes = 0
        self.c_calls = 0
        self.is_counting = False

    def trace(self, frame, event, _argument):
        """Count the bytecodes of a frame; for `sys.settrace`."""
        if event == "call":
            if self._is_of_harness(frame):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode" and self.is_counting:
            self.bytecodes += 1
        return self.trace

    def profile(self, frame, event, _argument):
        """Count a call of a function in C; for `sys.setprofile`."""
        if event == "c_call" and not self._is_of_harness(frame):
            self.c_calls += 1

    def _is_of_harness(self, frame):
        name = frame.f_globals.get("__name__", "")
        return name == __name__ or name.partition(".")[0] in self._harness


class counting:  # noqa: N801 -- it is used as a function; one of contextlib would count itself
    """Count what this thread does; the collector, which runs when it likes, is off meanwhile."""

    def __init__(self, costs):
        self._costs = costs

    def __enter__(self):
        self._before = sys.gettrace(), sys.getprofile()
        self._was_collecting = gc.isenabled()
        gc.disable()
        self._costs.is_counting = True
        sys.settrace(self._costs.trace)
        sys.setprofile(self._costs.profile)
        return self._costs

    def __exit__(self, *_):
        tracing, profiling = self._before
        sys.setprofile(profiling)
        sys.settrace(tracing)
        self._costs.is_counting = False
        if self._was_collecting:
            gc.enable()

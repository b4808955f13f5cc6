"""A journal in memory, for judging what a client puts on record and when."""

import threading


class Notebook:
    """Takes every intent, the same one twice as well.

    Args:
        has_left: Whether a request of this correlation id and operation has left already.

    Attributes:
        too_late: Intents that were written down when their request had left.
    """

    def __init__(self, has_left):
        self._has_left = has_left
        self.too_late = []
        self._lock = threading.Lock()
        self._states = {}
        self._details = {}

    def begin(self, intent):
        """Write down an intent."""
        if self._has_left(intent.correlation_id, intent.operation):
            self.too_late.append(intent)
        with self._lock:
            entry_id = f"{len(self._states)}-{intent.effect}"
            self._states[entry_id] = "open"
            return entry_id

    def end(self, entry_id, state, details=None):
        """Write down an outcome."""
        with self._lock:
            self._states[entry_id] = state
            self._details[entry_id] = details

    def states(self):
        """How every entry stands."""
        with self._lock:
            return dict(self._states)

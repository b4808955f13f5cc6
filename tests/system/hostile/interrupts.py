"""An exception raised in the main thread at a moment that another thread chooses."""

import logging
import signal
import threading
from contextlib import contextmanager
from pathlib import Path

import ferry_sdk

_LIBRARY = str(Path(ferry_sdk.__file__).parent)


class Interrupter:
    """Raises KeyboardInterrupt in the main thread as Ctrl-C does, inside the library only."""

    def __init__(self):
        self._is_armed = False

    def __enter__(self):
        self._before = signal.signal(signal.SIGUSR1, self._on_signal)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGUSR1, self._before)

    @contextmanager
    def arm(self, *, is_armed):
        """The block in which it raises, once."""
        self._is_armed = is_armed
        try:
            yield
        finally:
            self._is_armed = False

    def interrupt(self):
        """Raise it now, from another thread."""
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    def _on_signal(self, _, frame):
        if self._is_armed and _is_in_library(frame):
            self._is_armed = False
            raise KeyboardInterrupt


def _is_in_library(frame):
    """Whether a frame is the library's or below it; not in logging, whose lock may be lost."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == logging.__file__:
            return False
        if name.startswith(_LIBRARY):
            return True
        frame = frame.f_back
    return False

"""A tree of choices, walked depth-first: a course is taken again and again, each time another."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class Choices:
    """What is chosen on a course, so that every course is taken once.

    The first of the options at each point is what goes well; any other is a trouble.

    Args:
        most: How many troubles a course may have.

    Attributes:
        count: How many courses there were.
        left: How many troubles the present course may still have.
    """

    def __init__(self, most):
        self._most = most
        self._taken = []
        self._sizes = []
        self._at = 0
        self.count = 0
        self.left = most

    def __iter__(self):
        """Number the courses, until all were taken."""
        while True:
            self._at, self.left = 0, self._most
            self.count += 1
            yield self.count
            assert self._at == len(self._taken), "a course is the same when it is taken again"
            while self._taken and self._taken[-1] + 1 == self._sizes[-1]:
                self._taken.pop()
                self._sizes.pop()
            if not self._taken:
                return
            self._taken[-1] += 1

    def choose(self, options):
        """One of the options; another when the same point is reached again."""
        if not self.left or len(options) == 1:
            return options[0]
        if self._at == len(self._taken):
            self._taken.append(0)
            self._sizes.append(len(options))
        assert self._sizes[self._at] == len(options), "a course is the same when taken again"
        chosen = self._taken[self._at]
        self._at += 1
        if chosen:
            self.left -= 1
        return options[chosen]

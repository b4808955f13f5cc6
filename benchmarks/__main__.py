"""`python -m benchmarks`: the whole table, or the rows that are named."""

from __future__ import annotations

import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

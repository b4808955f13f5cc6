"""What the checkers of code say of files, as a reader would start them."""

import subprocess
import sys


def run_checker(*arguments, cwd):
    """What a checker says, whatever it thinks of the files."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=cwd,
        text=True,
        timeout=150,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def place_errors(errors, places):
    """Each error, by the document's own line."""
    found = []
    for file, line, words in errors:
        path, _, first = places[file].rpartition(":")
        found.append(f"{path}:{int(first) + line - 1}: {words}")
    return found

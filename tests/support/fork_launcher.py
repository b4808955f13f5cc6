"""A program that has another one run by the fork server: `fork_launcher.py ADDRESS ARGUMENTS`.

The other has its files, folder, environment and signals, and it ends as the other ends."""

import os
import signal
import sys
from contextlib import suppress

from fork_client import ask, number_of

STREAMS = (sys.stdin, sys.stdout, sys.stderr)


def main():
    """Run the program in the fork server, and end as it ends."""
    given = {number: number for number, one in enumerate(STREAMS) if one is not None}
    if 0 in given and os.isatty(0):
        give_up_terminal()
    environment = dict(os.environ)
    folder = os.getcwd()  # noqa: PTH109 -- pathlib takes as long to import as all the rest
    passed_on = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # until it is known to whom
    connection = ask(sys.argv[1], sys.argv[2:], folder, environment, given)
    pid = number_of(connection)
    for number in passed_on:
        signal.signal(number, lambda number, _: pass_on(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
    for number in given:
        os.close(number)
    code = number_of(connection)
    if code < 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def pass_on(pid, number):
    """Send a signal to the program."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def give_up_terminal():
    """Let the other become the leader of the terminal's session, whom Ctrl-C reaches."""
    import fcntl  # few have a terminal
    import termios

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    fcntl.ioctl(0, termios.TIOCNOTTY)


if __name__ == "__main__":
    main()

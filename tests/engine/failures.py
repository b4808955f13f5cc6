"""Failures of the network: each function makes a new one, also as a script's answer."""

from ferry_sdk import ConnectionFailedError, RequestTimeoutError, UnexpectedResponseError


def _failure(name, kind, words, **known):
    def fail(_=None):
        return kind(words, **known)

    fail.__name__ = name
    return fail


refused = _failure("refused", ConnectionFailedError, "refused", outcome="not_sent")
pool_full = _failure("pool_full", RequestTimeoutError, "no connection free", outcome="not_sent")
reset = _failure("reset", ConnectionFailedError, "reset", outcome="unknown")
timed_out = _failure("timed_out", RequestTimeoutError, "no reply", outcome="unknown")
undecodable = _failure("undecodable", UnexpectedResponseError, "not gzip")

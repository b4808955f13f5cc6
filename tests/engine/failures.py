"""Failures of the network: each function makes a new one, also as a script's answer."""

from ferry_sdk import ConnectionFailedError, RequestTimeoutError, UnexpectedResponseError


def refused(_=None):
    """Nothing was sent."""
    return ConnectionFailedError("refused", outcome="not_sent")


def pool_full(_=None):
    """Nothing was sent."""
    return RequestTimeoutError("no connection free", outcome="not_sent")


def reset(_=None):
    """It may have arrived."""
    return ConnectionFailedError("reset", outcome="unknown")


def timed_out(_=None):
    """It may have arrived."""
    return RequestTimeoutError("no reply", outcome="unknown")


def undecodable(_=None):
    """It arrived."""
    return UnexpectedResponseError("not gzip")

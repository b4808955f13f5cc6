"""Attributes of spans and metrics, by the semantic conventions."""

from __future__ import annotations

from typing import Final

from ferry_sdk.hooks import CallInfo, ResponseEvent

_FAILED: Final = 400

Attributes = dict[str, str | int]


def server_attributes(host: str, port: int | None) -> Attributes:
    """Return the attributes of a server."""
    attributes: Attributes = {"server.address": host}
    if port is not None:
        attributes["server.port"] = port
    return attributes


def call_attributes(call: CallInfo, operation: str, problem: str | None) -> Attributes:
    """Return the attributes of a call, or of an operation that belongs to it, that has ended."""
    attributes: Attributes = {"ferry.operation": operation}
    if call.label is not None:
        attributes["ferry.label"] = call.label
    if problem is not None:
        attributes["error.type"] = problem
    return attributes


def result_attributes(response: ResponseEvent) -> Attributes:
    """Return the status of a request and the kind of its failure, by the conventions."""
    attributes: Attributes = {}
    if response.status_code is not None:
        attributes["http.response.status_code"] = response.status_code
        if response.status_code >= _FAILED:
            attributes["error.type"] = str(response.status_code)
    if response.problem is not None:
        attributes["error.type"] = response.problem
    return attributes

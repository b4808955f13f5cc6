"""The operations of the local service: the rows of `operations.json`.

Routes, tools and resources, validation, the OpenAPI document and the names of counters and faults
come from these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name
from typing import Any, NamedTuple

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.body import Body, Nothing


class Operation(NamedTuple):
    """An operation.

    Attributes:
        name: The public name, by which faults and counters know it.
        handler: The method that performs it, such as `sales.create`.
        arguments: The model of its arguments.
        answer: The place of the record that it answers.
        is_list: Whether it answers a list of records.
        member: The member that holds the list, if the answer is an object.
        access: The least access that a token needs.
        error_code: The code of its errors; by default that of the HTTP status.
        unknown_id_code: The code of the error for an unknown id, if it has one of its own.
        summary: What it does, in some words.
        method: The HTTP method, if it is an endpoint of REST.
        path: The path of the endpoint.
        success: The HTTP status of a success.
        example: Arguments for the example of a call that needs no booking.
        links: What its answer is used for: arguments by operation.
        tool: The name, if it is a tool of MCP.
        uri: The address, if it is a resource of MCP.
        rpc: The methods of JSON-RPC, if it is another request of MCP.
        description: What the tool does, or what the resource holds.
        destroys: Whether the tool changes what exists.
    """

    name: str
    handler: str | None = None
    arguments: type[Body] = Nothing
    answer: str | None = None
    is_list: bool = False
    member: str | None = None
    access: Access = Access.READ_ONLY
    error_code: str | None = None
    unknown_id_code: str | None = None
    summary: str = ""
    method: str = ""
    path: str = ""
    success: int = 200
    example: Mapping[str, Any] = {}
    links: Mapping[str, Mapping[str, Any]] = {}
    tool: str | None = None
    uri: str | None = None
    rpc: Sequence[str] = ()
    description: str = ""
    destroys: bool = False


def _read(name: str, row: dict[str, Any]) -> Operation:
    if arguments := row.pop("arguments", None):
        row["arguments"] = resolve_name(arguments)
    return Operation(name, access=Access(row.pop("access", Access.READ_ONLY)), **row)


_ROWS: dict[str, dict[str, Any]] = data_beside(__file__)
OPERATIONS: Mapping[str, Operation] = {name: _read(name, row) for name, row in _ROWS.items()}
ENDPOINTS = tuple(each for each in OPERATIONS.values() if each.path)
TOOLS: Mapping[str, Operation] = {each.tool: each for each in OPERATIONS.values() if each.tool}
RESOURCES: Mapping[str, Operation] = {each.uri: each for each in OPERATIONS.values() if each.uri}
RPC: Mapping[str, Operation] = {name: each for each in OPERATIONS.values() for name in each.rpc}

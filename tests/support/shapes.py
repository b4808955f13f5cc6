"""The messages of the local service about the shape of a request, which its schemas describe."""

import re

from ferry_sdk.sandbox.requests.errors import messages

_KEYS = (
    "missing",
    "unknown_field",
    "text",
    "empty",
    "too_long",
    "too_many",
    "whole_number",
    "boolean",
    "list",
    "object",
    "too_small",
    "too_great",
    "choice",
    "date",
    "time",
    "moment",
    "email",
    "country",
    "document_number",
    "prefix",
    "phone",
    "vehicle_form",
    "malformed",
    "either",
)
_SHAPES = [
    re.compile(".*".join(map(re.escape, re.split(r"\{\w+\}", messages("en")[key]))))
    for key in _KEYS
]


def is_about_shape(message):
    """Whether a message of the service is about the shape of a request."""
    return any(one.fullmatch(message) for one in _SHAPES)

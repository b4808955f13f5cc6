"""Every operation of the library, each with arguments that make a good call."""

from functools import cache, cached_property
from inspect import signature
from pathlib import Path

from ferry_sdk.resources.base import method
from ferry_sdk.resources.groups import Resources

from .trip import PASSENGERS, TRAVELLERS

_VALUES = {
    "availabilities": [{"availability_id": "a-1", "tariff_id": "t-1", "place_id": "p-1"}],
    "passengers": PASSENGERS,
    "company": "CTN",
    "depart_code": "FRMRS",
    "arrive_code": "TNLGN",
    "out_at": "2027-06-01",
    "out_time": "08:00",
    "id": "b-1",
    "until": "ticketed",
    "deadline": 60,
    "path": "voucher.pdf",
    "external_payment_ref": "pay-1",
    "name": "paint_ship",
    "arguments": {"colour": "blue"},
    "uri": "resource://service/ports",
}
"""Good values of required arguments. That of an id is made of its first letter."""
_OTHER_VALUES = {
    "availability.search": {"passengers": TRAVELLERS},
    "mcp.search_availability": {"passengers": TRAVELLERS},
    "mcp.create_booking": {"availabilities": _VALUES["availabilities"]},
}
"""Other values for some operations, and arguments of which a call needs one."""


GROUPS = {
    name: type(getattr(Resources(None), name)).__base__
    for name, member in vars(Resources).items()
    if isinstance(member, cached_property)
}


def listed():
    """Return the names of all operations."""
    return tuple(
        f"{group}.{name}"
        for group, kind in GROUPS.items()
        for name, member in vars(kind).items()
        if isinstance(member, method)
    )


OPERATIONS = listed()
"""Those that there are while the tests are collected."""


@cache
def _required(name):
    group, _, call = name.partition(".")
    parameters = [*signature(getattr(GROUPS[group], call)).parameters.values()]
    return [each.name for each in parameters[1:] if each.default is each.empty]


UNCOVERED = {
    (name, argument)
    for name in OPERATIONS
    for argument in _required(name)
    if argument not in _VALUES and not argument.endswith("_id")
}
"""Required arguments without a value here: there must be none."""


def arguments(name, folder):
    """Return good arguments for an operation."""
    values = {each: _VALUES.get(each, f"{each[0]}-1") for each in _required(name)}
    if "path" in values:
        values["path"] = folder / values["path"]
    return values | _OTHER_VALUES.get(name, {})


def described(name, folder=Path(), /, **changes):
    """Return an operation with its arguments; no client makes the call."""
    group, _, call = name.partition(".")
    return getattr(GROUPS[group], call)(None, **arguments(name, folder) | changes)


def make(ferry, name, folder):
    """Make the call of an operation."""
    group, _, call = name.partition(".")
    return getattr(getattr(ferry, group), call)(**arguments(name, folder))

"""A sailing for other libraries: tables of its members, of which each library's models are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from types import GenericAlias
from typing import Any, Final

_MONEY = "money"
_EPOCH = "epoch"
"""In place of a type that each library chooses."""

TARIFF: Final[Mapping[str, Any]] = {
    "id": str,
    "type": str,
    "amount": _MONEY,
    "balance_amount": _MONEY,
    "currency": str,
    "date": _EPOCH,
    "expiration_date": _EPOCH,
    "roundtrip_locked": bool,
}
IN_BOARD: Final[Mapping[str, Any]] = {
    "adults": int,
    "childs": int,
    "babies": int,
    "has_shower": bool,
    "has_toilet": bool,
    "has_window": bool,
    "passengers": list[Any],
}
PLACE: Final[Mapping[str, Any]] = {
    "id": str,
    "index": int,
    "code": str,
    "count": int,
    "type": str,
    "gender": str,
    "capacity": int,
    "use": str,
    "name": str,
}
_COMPANY: Final[Mapping[str, Any]] = {"id": str, "name": str, "logo": str}
_PROVIDER: Final[Mapping[str, Any]] = {"id": str, "name": str}
_GATEWAY: Final[Mapping[str, Any]] = {"id": str, "code": str, "provider": str}
_AVAILABILITY: Final[Mapping[str, Any]] = {
    "id": str,
    "group_id": int,
    "direction": str,
    "journey_id": str,
    "sailing_id": str,
    "depart_name": str,
    "arrive_name": str,
    "depart_code": str,
    "arrive_code": str,
    "is_open": bool,
    "depart_at": datetime,
    "arrive_at": datetime,
    "passenger_count": int,
    "vehicle": list[Any],
    "meals": list[Any],
    "animals": Any,
    "stops": list[str],
    "ship_name": str,
    "duration": int,
}

Make = Callable[[str, Mapping[str, Any]], Any]
"""Makes a library's model of a name and its members."""


def availability(make: Make, *, money: type = Decimal, epoch: type = datetime) -> Any:  # noqa: ANN401 -- a model of any library
    """Return a library's model of a sailing, with the models of its members.

    Args:
        make: Makes one model.
        money: The type of amounts.
        epoch: The type of moments in epoch seconds.
    """

    def model(name: str, members: Mapping[str, Any], **models: Any) -> Any:  # noqa: ANN401 -- a model of any library
        open_types = {_MONEY: money, _EPOCH: epoch}
        types = {member: open_types.get(kind, kind) for member, kind in members.items()}
        return make(name, types | models)

    place = model("Place", PLACE, in_board=model("InBoard", IN_BOARD))
    return model(
        "Availability",
        _AVAILABILITY,
        company=model("Company", _COMPANY),
        provider=model("Provider", _PROVIDER),
        gateway=model("Gateway", _GATEWAY),
        tariffs=GenericAlias(list, (model("Tariff", TARIFF),)),
        places=GenericAlias(list, (place,)),
    )

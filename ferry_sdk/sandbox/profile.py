"""The behaviour of the local service where the interface leaves it open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import ConfigDict, TypeAdapter

from ferry_sdk.sandbox.requests.control import (
    ArrayResult,
    BareContent,
    BareResult,
    ControlModel,
    ProtocolError,
    StructuredResult,
    TextContent,
    ToolError,
)
from ferry_sdk.sandbox.requests.errors import InvalidOrderError, parse_fields

_OBJECT = TypeAdapter(dict[str, object])


class Profile(ControlModel):
    """What the service does where the interface allows several behaviours.

    Each field is the id of an assumption; its default is what the client assumes.

    Attributes:
        no_sailings: A search that finds nothing: 404 with `AVAILABILITY_ERROR`, or an empty list.
        unknown_id: A booking or ticket that does not exist: 404, 422, or 200 with the error object.
        invalid_request: The status of an invalid request: 422 or 400.
        amount: A tariff's `amount` is for the whole party, or for each person.
        currency: The currency of a search: `Eur` or `EUR`.
        search_list: The result of a search is a list, or an object with the list as its member.
        port_country: A port's `country` is a name, or a two-letter code.
        port_position: The names of a position's fields over MCP.
        journey_route: A `route` joins the names of two ports, or their codes.
        no_journeys: An empty list of journeys means all departures of a company, or none.
        date_header: Whether replies have a `Date`.
        out_time: A search starts at the given time of day, or covers the whole day.
        return_search: A search with a return finds both directions, or the way out only.
        balance: A tariff's `balance_amount` is the amount, or 0.
        mcp_result: The shape of a tool's result, see `McpOptions.result`.
        mcp_error: The shape of a tool's error, see `McpOptions.error`.
        mcp_resource: The shape of a resource's content, see `McpOptions.resource`.
        mcp_session: How sessions are used, see `McpOptions.session`.
        times: Whether the times of bookings and tickets have a UTC offset.
        qr_code: A ticket's QR code is a data URI, or Base64 alone, or absent.
        boarding_time: A ticket's boarding time has a date, or is `HH:MM`, or is absent.
        traveller_details: What a ticket does not know of a traveller is null, or absent.
        voucher: The URL of a voucher that does not exist is null, or the reply is 404.
        preview: A cancellation's penalty and refund add up to the payment, or the penalty is 0.
        place_price: A better place costs more than the tariff's amount, or the same.
        created_status: The `status` of a new booking.
        created_stage: The stage of a booking that is not paid.
        cancelled_status: How a cancellation spells its `status`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    no_sailings: Literal["not_found", "empty_list"] = "not_found"
    unknown_id: Literal["not_found", "unprocessable", "error_with_200"] = "not_found"
    invalid_request: Literal["unprocessable", "bad_request"] = "unprocessable"
    amount: Literal["whole_party", "per_person"] = "whole_party"
    currency: Literal["capitalized", "upper_case"] = "capitalized"
    search_list: Literal["list", "in_object"] = "list"
    port_country: Literal["name", "code"] = "name"
    port_position: Literal["latitude_longitude", "lat_lng"] = "latitude_longitude"
    journey_route: Literal["names", "codes"] = "names"
    no_journeys: Literal["all", "none"] = "all"
    date_header: Literal["present", "absent"] = "present"
    out_time: Literal["earliest", "ignored"] = "earliest"
    return_search: Literal["both_directions", "outward_only"] = "both_directions"
    balance: Literal["as_amount", "zero"] = "as_amount"
    mcp_result: Literal[StructuredResult, ArrayResult, "embedded_resource", BareResult] = (
        "structured_and_text"
    )
    mcp_error: Literal[ToolError, ProtocolError] = "is_error"
    mcp_resource: Literal[TextContent, BareContent] = "text"
    mcp_session: Literal["optional", "required", "none"] = "optional"
    times: Literal["with_offset", "without_offset"] = "with_offset"
    qr_code: Literal["data_uri", "base64", "absent"] = "data_uri"
    boarding_time: Literal["moment", "clock_time", "absent"] = "moment"
    traveller_details: Literal["null", "absent"] = "null"
    voucher: Literal["null", "not_found"] = "null"
    preview: Literal["sum", "refund_only"] = "sum"
    place_price: Literal["added", "included"] = "added"
    created_status: Literal["blocked", "pending"] = "blocked"
    created_stage: Literal["payment_due", "issuance_due"] = "payment_due"
    cancelled_status: Literal["cancelled", "canceled"] = "cancelled"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a profile from a JSON file; what it lists as `not_reproduced` is ignored.

        Raises:
            InvalidOrderError: The file is not a JSON object, or an id or a value is unknown; a
                `ValueError`.
            OSError: The file cannot be read.

        Example:
            ```python
            from pathlib import Path

            from ferry_sdk.sandbox import Profile, Sandbox

            Path("profile.json").write_text('{"no_sailings": "empty_list"}', encoding="utf-8")
            with Sandbox(profile=Profile.load("profile.json")) as sandbox:
                print(sandbox.profile.no_sailings)
                # > empty_list
            ```
        """
        if Path(path).is_fifo():  # without a writer, opening it blocks
            raise InvalidOrderError("profile", "the file must be a regular file")
        try:
            values = _OBJECT.validate_json(Path(path).read_bytes())
        except ValueError:
            raise InvalidOrderError("profile", "the file must be a JSON object") from None
        values.pop("not_reproduced", None)
        return parse_fields(cls, values)

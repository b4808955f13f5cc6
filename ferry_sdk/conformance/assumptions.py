"""The assumptions of the client and the local service, where the interface leaves it open.

docs/assumptions.md shows the same list.
"""

from __future__ import annotations

from typing import Final, NamedTuple

READS: Final = "reads"
BOOKING_ID: Final = "a booking id"
TICKET_ID: Final = "a ticket id"
BOOK: Final = "--book"
PROBES: Final = (READS, BOOKING_ID, TICKET_ID, BOOK)
"""What shows an assumption."""

_CHOICE_OF_THE_CLIENT: Final = "a choice of the client, whatever the service does"
_REQUIRES_A_PAID_BOOKING: Final = "requires a paid booking"


class Assumption(NamedTuple):
    """One assumption.

    Attributes:
        id: Its name.
        text: What is assumed, as a sentence.
        probe: What shows it, one of `PROBES`; or the reason why `check` cannot see it.
        values: The assumed value, and then others that a service may show.
    """

    id: str
    text: str
    probe: str
    values: tuple[str, ...] = ()


ASSUMPTIONS: Final = (
    Assumption(
        id="no_sailings",
        text=(
            "A search without sailings is a 404 with `AVAILABILITY_ERROR`. An empty list means "
            "the same; with any other status the search failed."
        ),
        probe=READS,
        values=("not_found", "empty_list"),
    ),
    Assumption(
        id="unknown_id",
        text=(
            "A booking that does not exist is a 404. An error object in a reply with status 200 "
            "raises that error."
        ),
        probe=READS,
        values=("not_found", "unprocessable", "error_with_200"),
    ),
    Assumption(
        id="invalid_request",
        text="An invalid request is a 422.",
        probe=READS,
        values=("unprocessable", "bad_request"),
    ),
    Assumption(
        id="amount",
        text="The amount of a tariff is for the whole party.",
        probe=READS,
        values=("whole_party", "per_person"),
    ),
    Assumption(
        id="currency",
        text="A search capitalizes the currency (`Eur`). The client converts it to upper case.",
        probe=READS,
        values=("capitalized", "upper_case"),
    ),
    Assumption(
        id="search_list",
        text=(
            "A search returns a list. An object is read as the list in its only member, or as a "
            "single record."
        ),
        probe=READS,
        values=("list", "in_object"),
    ),
    Assumption(
        id="port_country",
        text=(
            "A port's `country` is a name. `Port.country_code` comes from MCP's catalogue of "
            "countries or a UN/LOCODE, else it is `None`."
        ),
        probe=READS,
        values=("name", "code"),
    ),
    Assumption(
        id="port_position",
        text="MCP's ports have `latitude` and `longitude`. Other common spellings are accepted.",
        probe=READS,
        values=("latitude_longitude", "lat_lng"),
    ),
    Assumption(
        id="journey_route",
        text=(
            "The `route` of a journey joins the names of two ports; their codes are read too. Who "
            "sails it is known from the departures of every company and MCP's catalogues; what "
            "only one of them knows counts."
        ),
        probe=READS,
        values=("names", "codes"),
    ),
    Assumption(
        id="no_journeys",
        text="Departures with an empty list of journeys are those of all journeys.",
        probe=READS,
        values=("all", "none"),
    ),
    Assumption(
        id="date_header",
        text=(
            "Replies have a `Date` header, which tells the service's clock. A tariff counts as "
            "expired only if that is certain."
        ),
        probe=READS,
        values=("present", "absent"),
    ),
    Assumption(
        id="out_time",
        text="`out_time` is the earliest departure.",
        probe=READS,
        values=("earliest", "ignored"),
    ),
    Assumption(
        id="return_search",
        text="A search with a return has both directions in one list.",
        probe=READS,
        values=("both_directions", "outward_only"),
    ),
    Assumption(
        id="balance",
        text="The `balance_amount` of a tariff is its amount.",
        probe=READS,
        values=("as_amount", "zero"),
    ),
    Assumption(
        id="mcp_result",
        text=(
            "An MCP tool returns structured content and the same as text. Other shapes are "
            "accepted."
        ),
        probe=READS,
        values=(
            "structured_and_text",
            "structured",
            "structured_array",
            "text",
            "n_blocks",
            "embedded_resource",
            "bare",
            "batch",
        ),
    ),
    Assumption(
        id="mcp_error",
        text=(
            "An MCP tool that fails returns the error object as structured content with "
            "`isError`. Other shapes are accepted."
        ),
        probe=READS,
        values=(
            "is_error",
            "is_error_text",
            "is_error_prose",
            "tool_error_text",
            "json_rpc_error",
            "json_rpc_error_data",
            "bare",
        ),
    ),
    Assumption(
        id="mcp_resource",
        text="The content of an MCP resource is one JSON text. Other shapes are accepted.",
        probe=READS,
        values=(
            "text",
            "text_without_type",
            "text_without_uri",
            "blob",
            "split",
            "bare_list",
            "bare_object",
        ),
    ),
    Assumption(
        id="times",
        text=(
            "`expire_at`, `timeLimit` and the times of a ticket have an offset. A time without "
            "one stays a string; `depart_at` and `arrive_at` of an availability require one."
        ),
        probe=BOOKING_ID,
        values=("with_offset", "without_offset"),
    ),
    Assumption(
        id="preview",
        text="The penalty and the refund of a cancellation add up to the price that was paid.",
        probe=BOOKING_ID,
        values=("sum", "refund_only"),
    ),
    Assumption(
        id="qr_code",
        text="The `qr_code` of a ticket is a data URI. If it is missing, it is an empty string.",
        probe=TICKET_ID,
        values=("data_uri", "base64", "absent"),
    ),
    Assumption(
        id="boarding_time",
        text=(
            "The `boarding_time` of a ticket is a moment. If it is missing, it is an empty string."
        ),
        probe=TICKET_ID,
        values=("moment", "clock_time", "absent"),
    ),
    Assumption(
        id="traveller_details",
        text="What a ticket does not know of a traveller is null. It may also be absent.",
        probe=TICKET_ID,
        values=("null", "absent"),
    ),
    Assumption(
        id="voucher",
        text="The voucher of a ticket that has none yet is a null URL.",
        probe=TICKET_ID,
        values=("null", "not_found"),
    ),
    Assumption(
        id="place_price",
        text=(
            "A tariff's amount includes the cheapest place; a better place costs more, and its "
            "price is known only after booking."
        ),
        probe=BOOK,
        values=("added", "included"),
    ),
    Assumption(
        id="created_status",
        text="The status of a new booking is `Blocked`, in any case of letters.",
        probe=BOOK,
        values=("blocked", "pending"),
    ),
    Assumption(
        id="created_stage",
        text="A new booking is in stage `payment_due`.",
        probe=BOOK,
        values=("payment_due", "issuance_due"),
    ),
    Assumption(
        id="cancelled_status",
        text="The status in the reply of a cancellation is `cancelled`.",
        probe=BOOK,
        values=("cancelled", "canceled"),
    ),
    Assumption(
        id="mcp_session",
        text="MCP calls work with a session and without one.",
        probe="the client always opens a session",
        values=("optional",),
    ),
    Assumption(
        id="mcp_traveller_types",
        text=(
            "MCP's types of children and infants are `CHD` and `INF`, besides the documented `ADT`."
        ),
        probe="requires a booking of a family",
    ),
    Assumption(
        id="catalogue_fields",
        text=(
            "All fields of MCP's catalogues are optional. Common spellings of prefixes and sizes "
            "are accepted."
        ),
        probe=_CHOICE_OF_THE_CLIENT,
    ),
    Assumption(
        id="unknown_values",
        text="Enumerations may have unknown values, and records unknown fields.",
        probe=_CHOICE_OF_THE_CLIENT,
    ),
    Assumption(
        id="negative_prices",
        text="No tariff and no penalty is negative: a record with one is unreadable.",
        probe=_CHOICE_OF_THE_CLIENT,
    ),
    Assumption(
        id="voucher_file",
        text="`save_pdf` and `read_pdf` of a voucher without a URL raise `VoucherNotReadyError`.",
        probe=_CHOICE_OF_THE_CLIENT,
    ),
    Assumption(
        id="confirmed_stages",
        text=(
            "The stages that prove a confirmation are `ticketed` and `partially_voided`; a "
            "`voided` booking may never have been confirmed."
        ),
        probe=_REQUIRES_A_PAID_BOOKING,
    ),
    Assumption(
        id="no_tickets",
        text=(
            "A booking without tickets, read after a lost confirmation, proves nothing, because "
            "the result of a confirmation names a ticket."
        ),
        probe=_REQUIRES_A_PAID_BOOKING,
    ),
    Assumption(
        id="same_company",
        text='The "same company" of a locked tariff is the same `company.id`.',
        probe="requires bookings that the service refuses",
    ),
    Assumption(
        id="token_function",
        text="A token given as a function is read once, and again after a 401.",
        probe=_CHOICE_OF_THE_CLIENT,
    ),
    Assumption(
        id="refund_shortfall",
        text=(
            "If a refund is smaller than previewed, the cancellation is done: the call returns a "
            "result with `refund_shortfall`, and warns."
        ),
        probe=_REQUIRES_A_PAID_BOOKING,
    ),
    Assumption(
        id="unreachable_stages",
        text=(
            "Waiting for a stage that a voided or lapsed booking cannot reach ends at once, with "
            "the same error as at the deadline."
        ),
        probe=_CHOICE_OF_THE_CLIENT,
    ),
    Assumption(
        id="age_bands",
        text="A traveller whose type is not given is an infant below 2 years and a child below 12.",
        probe="companies differ, and the service states no limits",
    ),
    Assumption(
        id="booking_rules",
        text="Stages, open tickets, what a booking requires, and what is refused.",
        probe=_REQUIRES_A_PAID_BOOKING,
    ),
    Assumption(
        id="place_count",
        text=(
            "The `count` of a place is the number of free places of its kind. It is absent where "
            "the service does not know it."
        ),
        probe="requires all places of a sailing to be booked",
    ),
    Assumption(
        id="prices",
        text="Tariffs, prices and cancellation fees.",
        probe="the local service invents them",
    ),
    Assumption(
        id="value_formats",
        text="Null, whole numbers, and the times in `paid_at`.",
        probe="requires writes that the service refuses",
    ),
    Assumption(
        id="voucher_delivery",
        text="When and how vouchers are delivered.",
        probe=_REQUIRES_A_PAID_BOOKING,
    ),
    Assumption(
        id="open_fields",
        text="Pricing, journey details and other fields with open content.",
        probe="the client returns them unchanged",
    ),
    Assumption(
        id="error_statuses",
        text="The statuses and codes of other errors.",
        probe="requires invalid tokens and writes that the service refuses",
    ),
    Assumption(
        id="mcp_versions",
        text="The versions and schemas of MCP.",
        probe="the client negotiates them",
    ),
    Assumption(
        id="faults",
        text="When an injected fault occurs.",
        probe="only the local service has faults",
    ),
)
"""All assumptions, in the order of the report."""


def ids_shown_by(probe: str) -> tuple[str, ...]:
    """Return the ids of the assumptions that one of `PROBES` shows."""
    return tuple(assumption.id for assumption in ASSUMPTIONS if assumption.probe == probe)

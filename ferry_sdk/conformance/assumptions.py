"""What the interface leaves open and the client and the local service assume: one list.

docs/assumptions.md shows the same list.
"""

from __future__ import annotations

from typing import Final, NamedTuple

READS: Final = "reads"
BOOKING: Final = "a booking id"
TICKET: Final = "a ticket id"
WRITES: Final = "--book"
PROBES: Final = (READS, BOOKING, TICKET, WRITES)

_CHOICE: Final = "a choice of the client, whatever the service does"
_PAID: Final = "requires a paid booking"


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
        "no_sailings",
        "A search without sailings is a 404 with `AVAILABILITY_ERROR`. An empty list means the "
        "same; with any other status the search failed.",
        READS,
        ("not_found", "empty_list"),
    ),
    Assumption(
        "unknown_id",
        "A booking that does not exist is a 404. An error object in a reply with status 200 "
        "raises that error.",
        READS,
        ("not_found", "unprocessable", "error_with_200"),
    ),
    Assumption(
        "invalid_request",
        "An invalid request is a 422.",
        READS,
        ("unprocessable", "bad_request"),
    ),
    Assumption(
        "amount",
        "The amount of a tariff is for the whole party.",
        READS,
        ("whole_party", "per_person"),
    ),
    Assumption(
        "currency",
        "A search capitalizes the currency (`Eur`). The client converts it to upper case.",
        READS,
        ("capitalized", "upper_case"),
    ),
    Assumption(
        "search_list",
        "A search returns a list. An object is read as the list in its only member, or as a "
        "single record.",
        READS,
        ("list", "in_object"),
    ),
    Assumption(
        "port_country",
        "A port's `country` is a name. `Port.country_code` comes from MCP's catalogue of "
        "countries or a UN/LOCODE, else it is `None`.",
        READS,
        ("name", "code"),
    ),
    Assumption(
        "port_position",
        "MCP's ports have `latitude` and `longitude`. Other common spellings are accepted.",
        READS,
        ("latitude_longitude", "lat_lng"),
    ),
    Assumption(
        "journey_route",
        "The `route` of a journey joins the names of two ports; their codes are read too. Who "
        "sails it is known from the departures of every company and MCP's catalogues; what only "
        "one of them knows counts.",
        READS,
        ("names", "codes"),
    ),
    Assumption(
        "no_journeys",
        "Departures with an empty list of journeys are those of all journeys.",
        READS,
        ("all", "none"),
    ),
    Assumption(
        "date_header",
        "Replies have a `Date` header, which tells the service's clock. A tariff counts as "
        "expired only if that is certain.",
        READS,
        ("present", "absent"),
    ),
    Assumption(
        "out_time",
        "`out_time` is the earliest departure.",
        READS,
        ("earliest", "ignored"),
    ),
    Assumption(
        "return_search",
        "A search with a return has both directions in one list.",
        READS,
        ("both_directions", "outward_only"),
    ),
    Assumption(
        "balance",
        "The `balance_amount` of a tariff is its amount.",
        READS,
        ("as_amount", "zero"),
    ),
    Assumption(
        "mcp_result",
        "An MCP tool returns structured content and the same as text. Other shapes are accepted.",
        READS,
        (
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
        "mcp_error",
        "An MCP tool that fails returns the error object as structured content with `isError`. "
        "Other shapes are accepted.",
        READS,
        (
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
        "mcp_resource",
        "The content of an MCP resource is one JSON text. Other shapes are accepted.",
        READS,
        (
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
        "times",
        "`expire_at`, `timeLimit` and the times of a ticket have an offset. A time without one "
        "stays a string; `depart_at` and `arrive_at` of an availability require one.",
        BOOKING,
        ("with_offset", "without_offset"),
    ),
    Assumption(
        "preview",
        "The penalty and the refund of a cancellation add up to the price that was paid.",
        BOOKING,
        ("sum", "refund_only"),
    ),
    Assumption(
        "qr_code",
        "The `qr_code` of a ticket is a data URI. If it is missing, it is an empty string.",
        TICKET,
        ("data_uri", "base64", "absent"),
    ),
    Assumption(
        "boarding_time",
        "The `boarding_time` of a ticket is a moment. If it is missing, it is an empty string.",
        TICKET,
        ("moment", "clock_time", "absent"),
    ),
    Assumption(
        "traveller_details",
        "What a ticket does not know of a traveller is null. It may also be absent.",
        TICKET,
        ("null", "absent"),
    ),
    Assumption(
        "voucher",
        "The voucher of a ticket that has none yet is a null URL.",
        TICKET,
        ("null", "not_found"),
    ),
    Assumption(
        "place_price",
        "A tariff's amount includes the cheapest place; a better place costs more, and its price "
        "is known only after booking.",
        WRITES,
        ("added", "included"),
    ),
    Assumption(
        "created_status",
        "The status of a new booking is `Blocked`, in any case of letters.",
        WRITES,
        ("blocked", "pending"),
    ),
    Assumption(
        "created_stage",
        "A new booking is in stage `payment_due`.",
        WRITES,
        ("payment_due", "issuance_due"),
    ),
    Assumption(
        "cancelled_status",
        "The status in the reply of a cancellation is `cancelled`.",
        WRITES,
        ("cancelled", "canceled"),
    ),
    Assumption(
        "mcp_session",
        "MCP calls work with a session and without one.",
        "the client always opens a session",
        ("optional",),
    ),
    Assumption(
        "mcp_traveller_types",
        "MCP's types of children and infants are `CHD` and `INF`, besides the documented `ADT`.",
        "requires a booking of a family",
    ),
    Assumption(
        "catalogue_fields",
        "All fields of MCP's catalogues are optional. Common spellings of prefixes and sizes are "
        "accepted.",
        _CHOICE,
    ),
    Assumption(
        "unknown_values",
        "Enumerations may have unknown values, and records unknown fields.",
        _CHOICE,
    ),
    Assumption(
        "negative_prices",
        "No tariff and no penalty is negative: a record with one is unreadable.",
        _CHOICE,
    ),
    Assumption(
        "voucher_file",
        "`save_pdf` of a voucher without a URL raises `NotFoundError`.",
        _CHOICE,
    ),
    Assumption(
        "confirmed_stages",
        "The stages that prove a confirmation are `ticketed` and `partially_voided`; a `voided` "
        "booking may never have been confirmed.",
        _PAID,
    ),
    Assumption(
        "no_tickets",
        "A booking without tickets, read after a lost confirmation, proves nothing, because the "
        "result of a confirmation names a ticket.",
        _PAID,
    ),
    Assumption(
        "same_company",
        'The "same company" of a locked tariff is the same `company.id`.',
        "requires bookings that the service refuses",
    ),
    Assumption(
        "token_function",
        "A token given as a function is read once, and again after a 401.",
        _CHOICE,
    ),
    Assumption(
        "refund_shortfall",
        "If a refund is smaller than previewed, the cancellation is done: the call returns a "
        "result with `refund_shortfall`, and warns.",
        _PAID,
    ),
    Assumption(
        "unreachable_stages",
        "Waiting for a stage that a voided or lapsed booking cannot reach ends at once, with the "
        "same error as at the deadline.",
        _CHOICE,
    ),
    Assumption(
        "booking_rules",
        "Stages, open tickets, what a booking requires, and what is refused.",
        _PAID,
    ),
    Assumption(
        "prices",
        "Tariffs, prices and cancellation fees.",
        "the local service invents them",
    ),
    Assumption(
        "value_formats",
        "Null, whole numbers, and the times in `paid_at`.",
        "requires writes that the service refuses",
    ),
    Assumption(
        "voucher_delivery",
        "When and how vouchers are delivered.",
        _PAID,
    ),
    Assumption(
        "open_fields",
        "Pricing, journey details and other fields with open content.",
        "the client returns them unchanged",
    ),
    Assumption(
        "error_statuses",
        "The statuses and codes of other errors.",
        "requires invalid tokens and writes that the service refuses",
    ),
    Assumption(
        "mcp_versions",
        "The versions and schemas of MCP.",
        "the client negotiates them",
    ),
    Assumption(
        "faults",
        "When an injected fault occurs.",
        "only the local service has faults",
    ),
)
"""All assumptions."""

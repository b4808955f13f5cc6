"""Records and inputs. Each public name is loaded on first use.

The public names are those that `ferry_sdk` takes from these modules, and those of the table below.
`scripts/api-map` writes the stub beside this module.
"""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "availability": "Gateway InBoard Provider SailingCompany",
        "base": "Model",
        "bookings": "Balance Kept KeptLine Received Reverse",
        "catalogue": "McpResource McpTool",
        "enums": "OpenEnum",
        "tickets": "TicketJourney TicketJourneys TicketLeg",
    },
)

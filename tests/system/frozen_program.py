"""A program for PyInstaller: a journey over REST and MCP, with a journal and an agent's tools."""

import tempfile
from pathlib import Path

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox, crossing


def main():
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(f"sqlite:///{Path(folder, 'ferry.db')}") as journal,
        Sandbox() as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
    ):
        booking = ferry.bookings.create(**crossing(ferry))
        ferry.bookings.confirm(booking.booking_id)
        sold = ferry.bookings.wait(booking.booking_id, until="ticketed", deadline=60)
        assert ferry.tickets.read_pdf(sold.tickets[0].id)
        assert ferry.mcp.companies()
        ferry.bookings.cancel(booking.booking_id, max_penalty="1000")
        assert [entry.state for entry in journal.entries()] == ["done"] * 3

        tools = {tool.name: tool for tool in Toolkit(ferry, writes=True).definitions()}
        origin = tools["trips_find"].input_schema["properties"]["origin"]
        assert origin["description"] == "A town or port, by name or code.", origin
        assert tools["bookings_get"].description.startswith("Read a booking"), tools


if __name__ == "__main__":
    main()

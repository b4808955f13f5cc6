"""Makes what agents leave behind: the state file of toolkits, and an audit file."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.policy.audit_file import AuditFile
from ferry_sdk.agents.toolkit import state_of
from tests.agents.agent import (
    PASSENGERS,
    TRAVELLERS,
    approve_all,
    error,
    order,
    query,
    result_of,
)
from tests.golden.world import client_of
from tests.support.trip import DAY

LIMITS = {"spend_limit": {"EUR": 500}, "penalty_limit": {"EUR": 100}}
TRIP = {
    "origin": "Tarifa",
    "destination": "MATNG",
    "on": f"{DAY + timedelta(days=50)}",
    "companies": ["BALEARIA"],
    "passengers": TRAVELLERS,
}
PID = 4711


def fill(folder, service):
    """Make `agents.db` and `audit.jsonl` in a folder."""
    with client_of(service) as ferry:
        Agents(ferry, service, folder).run()


class Agents:
    """Toolkits that share a state file and an audit file.

    Attributes:
        state: The state file.
    """

    def __init__(self, ferry, service, folder):
        self.state = folder / "state.db"
        self._ferry = ferry
        self._service = service
        self._copy = folder / "agents.db"
        self._audit = AuditFile(folder / "audit.jsonl")

    def toolkit(self, approve=approve_all, ferry=None):
        """Return a toolkit whose codes and questions have a clock that stands still."""
        toolkit = Toolkit(
            ferry or self._ferry,
            tools="all",
            writes=True,
            approve=approve,
            audit=self._write,
            state=self.state,
            **LIMITS,
        )
        toolkit._runner.writes.approvals.clock = lambda: 0.0
        return toolkit

    def _write(self, record):
        self._audit(replace(record, seconds=0.25))  # the time that a call takes varies

    def run(self):
        """Have each table of the state get an entry."""
        self._travel()
        self._lose_a_reply()
        self._decline()
        self._ask_for_code()
        self._ask_in_a_form()
        self._fail()
        self._end_in_the_middle()

    def _order(self, day):
        return order_of(self.toolkit(), day)

    def _travel(self):
        """Find a trip, book, pay and cancel it."""
        toolkit = self.toolkit()
        found = result_of(toolkit.call("trips_find", TRIP))
        wanted = {"offer": found["offers"][0]["offer"], "passengers": PASSENGERS}
        made = {"booking_id": result_of(toolkit.call("bookings_create", wanted))["booking_id"]}
        paid = result_of(toolkit.call("bookings_confirm", made))
        result_of(toolkit.call("tickets_cancel", {"ticket_id": paid["ticket_id"]}))
        unpaid = result_of(toolkit.call("bookings_create", self._order(40)))
        result_of(toolkit.call("bookings_get", {"booking_id": unpaid["booking_id"]}))

    def _lose_a_reply(self):
        lost = self._order(41)
        self._service.faults.add("lose_reply", "bookings.create")
        assert self.toolkit().call("bookings_create", lost)["status"] == "unknown"

    def _decline(self):
        declined = self._order(42)
        answer = self.toolkit(lambda _: False).call("bookings_create", declined)
        error(answer, "declined")

    def _ask_for_code(self):
        answer = self.toolkit(None).call("bookings_create", self._order(43))
        assert answer["status"] == "approval_needed"

    def _ask_in_a_form(self):
        """Ask as the MCP server does: one question is open, and one has its answer."""
        from ferry_sdk.agents.mcp_server.questions import Questions  # requires an extra

        toolkit = self.toolkit()
        wanted = self._order(44)
        request = toolkit.preview("bookings_create", wanted)
        questions = Questions(state_of(toolkit))
        questions.keep("bookings_create", wanted, request)
        questions.agree(request)

    def _fail(self):
        self._service.faults.add("server_error", "availability.search", times=None)
        answer = self.toolkit().call("availability_search", query())
        assert answer["status"] == "failed"
        self._service.faults.clear()

    def _end_in_the_middle(self):
        """Keep the state of the moment at which one write is prepared, and another one is sent."""
        sent, prepared = self._order(45), self._order(46)

        def keep(event):
            if event.operation == "bookings.create":
                shutil.copy(self.state, self._copy)

        def send_another(_):
            with client_of(self._service, event_hooks={"request": [keep]}) as ferry:
                toolkit = self.toolkit(ferry=ferry)
                result_of(toolkit.call("bookings_create", sent))
            return True

        result_of(self.toolkit(send_another).call("bookings_create", prepared))
        set_process(self._copy)


def order_of(toolkit, day):
    """Search a day with a toolkit, and return the arguments of a booking."""
    search = query(out_at=f"{DAY + timedelta(days=day)}", out_time="18:00")
    return order(result_of(toolkit.call("availability_search", search))["items"][0])


def set_process(state):
    """Have the writes in progress belong to a process with a fixed number."""
    with closing(sqlite3.connect(state)) as connection, connection:
        connection.execute(
            "UPDATE entries SET value = json_set(value, '$.pid', ?) WHERE kind = 'under_way'",
            (PID,),
        )

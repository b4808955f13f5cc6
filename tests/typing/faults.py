"""Faults as a type checker sees them: kinds and details by name."""

from __future__ import annotations

from ferry_sdk.sandbox import FaultKind, Sandbox


def request_faults(sandbox: Sandbox) -> None:
    sandbox.faults.add("refused", "bookings.confirm", status=422, code="BOOKING_CONFIRM_ERROR")
    sandbox.faults.add(FaultKind.FAILS_LATER, index=0, seconds=60, times=None)
    sandbox.faults.add("departure_moved", minutes=-90, only_issued=True)
    again = sandbox.faults.add("place_taken", sold_out=False)
    sandbox.faults.add(again)
    # Mistakes that mypy and pyright find.
    sandbox.faults.add("refusd")  # type: ignore[arg-type]  # the mistake
    sandbox.faults.add("refused", state=422)  # type: ignore[call-arg]  # the mistake

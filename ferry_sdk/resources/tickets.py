"""Read and cancel tickets, record payments, fetch vouchers."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Final, TypeVar

from ferry_sdk._engine.operation import Call, Operation, Wait, Write
from ferry_sdk._engine.parsing import Answer, Passthrough, Record
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._engine.validation import seconds
from ferry_sdk._protocols.rest import Rest
from ferry_sdk._protocols.voucher import VoucherFile
from ferry_sdk.models.tickets import (
    CancellationFee,
    PaymentRecorded,
    Ticket,
    TicketCancellation,
    Voucher,
)
from ferry_sdk.resources import arguments
from ferry_sdk.resources.arguments import file_path, identifier
from ferry_sdk.resources.base import Resource, method
from ferry_sdk.resources.conditions import voucher_available
from ferry_sdk.resources.guards import penalty_guard, read_fee
from ferry_sdk.resources.read_back import change, read_back, read_ticket

T = TypeVar("T")

_NAMES: Final = {"id": "ticket_id"}
"""The argument of a call that names its ticket in the path."""


class TicketsGroup(Resource):
    """Read and cancel tickets, record payments, fetch vouchers."""

    @method
    def get(self, ticket_id: str) -> Operation[Ticket]:
        """Read one ticket.

        Interface: GET /api/ticket/{id}.

        Args:
            ticket_id: The ticket's id, as a booking lists it.

        Returns:
            The ticket.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            NotFoundError: There is no such ticket.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                ticket = ferry.tickets.get(ticket_id)
                print(ticket.status, len(ticket.passengers))
                # > Issued 1
            ```
        """
        return read_ticket(identifier(ticket_id, "ticket_id"), SAFETY["tickets.get"])

    @method
    def cancel(
        self,
        ticket_id: str,
        *,
        ticket_number: str | None = None,
        max_penalty: Decimal | int | str | None = None,
        min_refund: Decimal | int | str | None = None,
        currency: str | None = None,
    ) -> Operation[TicketCancellation]:
        """Cancel one ticket before its departure; fees may apply.

        It is sent again only if nothing was done, as after a 429. If the reply is lost, the
        ticket is polled until it shows the effect or the deadline passes (30 seconds without a
        deadline).
        Interface: POST /api/ticket/cancel.

        Args:
            ticket_id: The ticket.
            ticket_number: The company's reference, as an additional check.
            max_penalty: The highest acceptable penalty. The fee is read first, and nothing is
                cancelled if it is higher.
            min_refund: The lowest acceptable refund. The fee is read first, and nothing is
                cancelled if less is paid back.
            currency: The currency of both amounts (ISO 4217); None: that of the fee.

        Returns:
            The cancellation. With an amount, also the `previewed` fee.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            PenaltyExceededError: The penalty, the refund or their currency is not acceptable.
            AlreadyDoneError: The ticket was cancelled before.
            TicketCancelError: There is no such ticket, or the service did not cancel it.
            OutcomeUnknownError: The ticket may have been cancelled.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                ferry.tickets.cancel(ticket_id, max_penalty="3.21", currency="EUR")
                print(ferry.tickets.get(ticket_id).status)
                # > Canceled
            ```
        """
        subject = {"ticket_id": identifier(ticket_id, "ticket_id")}
        number = arguments.optional(ticket_number, "ticket_number")
        body = arguments.drop_none({**subject, "ticket_number": number})
        guard = penalty_guard(
            max_penalty, min_refund, currency, subject=subject, operation="tickets.cancel"
        )
        call = Rest.post("ticket", "cancel", body=body)
        return change("tickets.cancel", call, TicketCancellation, subject=subject, guard=guard)

    @method
    def cancel_fee(self, id: str) -> Operation[CancellationFee]:  # noqa: A002 -- the wire's name
        """Return what cancelling a ticket or a booking now would cost. Nothing is changed.

        It is the same call as `bookings.cancel_fee`. Interface: POST /api/booking/cancel-fee.

        Args:
            id: The id of a ticket, or of a booking for all its tickets.

        Returns:
            Penalty and refund in `currency`.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            NotFoundError: There is no such booking or ticket.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                fee = ferry.tickets.cancel_fee(ticket_id)
                print(fee.penalty_amount, "kept,", fee.refund_amount, "back", fee.currency)
                # > 3.21 kept, 12.84 back EUR
            ```
        """
        return read_fee("tickets.cancel_fee", identifier(id, "id"), "id")

    @method
    def pdf(self, ticket_id: str) -> Operation[Voucher]:
        """Return the address of the boarding voucher.

        Interface: GET /api/ticket/{id}/pdf.

        Args:
            ticket_id: The ticket.

        Returns:
            The voucher; ``url`` is None until it is available, and always if the company sends
            it by e-mail.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            NotFoundError: There is no such ticket.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                voucher = ferry.tickets.pdf(ticket_id)
                print("available" if voucher.url else "not there yet")
                # > available
            ```
        """
        call = Rest.get("ticket", identifier(ticket_id, "ticket_id"), "pdf")
        return _read("tickets.pdf", call, Record(Voucher, ticket_id=ticket_id))

    @method
    def wait_pdf(
        self,
        ticket_id: str,
        *,
        deadline: float,
        on_progress: Callable[[Voucher], Awaitable[None] | None] | None = None,
    ) -> Operation[Voucher]:
        """Poll the boarding voucher until it has an address.

        It never has one if the company sends it by e-mail. Transient errors are retried.
        Interface: GET /api/ticket/{id}/pdf.

        Args:
            ticket_id: The ticket.
            deadline: Maximum time in seconds; overrides the client's deadline.
            on_progress: Called with every voucher that is read; an awaitable result is awaited.

        Returns:
            The voucher with its address.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            RequestTimeoutError: The deadline passed before it had an address.
            NotFoundError: There is no such ticket.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                voucher = ferry.tickets.wait_pdf(ticket_id, deadline=60)
                print("available" if voucher.url else "not there yet")
                # > available
            ```
        """
        call = Rest.get("ticket", identifier(ticket_id, "ticket_id"), "pdf")
        wait = voucher_available(seconds(deadline, "deadline"), on_progress)
        return _read("tickets.wait_pdf", call, Record(Voucher, ticket_id=ticket_id), wait=wait)

    @method
    def save_pdf(self, ticket_id: str, path: str | os.PathLike[str]) -> Operation[Path]:
        """Save the boarding voucher to a file, atomically.

        The token is sent only to the service's own address. A voucher elsewhere is fetched
        without it, over https, following redirects. Interface: GET /api/ticket/{id}/pdf.

        Args:
            ticket_id: The ticket.
            path: The file; an existing file is replaced. Only its owner can read it.

        Returns:
            The file's path.

        Raises:
            VoucherNotReadyError: The voucher does not exist yet, or is sent by e-mail.
            NotFoundError: There is no such ticket.
            UnexpectedResponseError: The address is unusable, or does not return a whole PDF.
            FerryError: The call failed for another reason.
            InvalidInputError: The path is unusable: the folder does not exist or is not writable,
                or the path is not a regular file.
            OSError: Writing the file failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                ferry.tickets.wait_pdf(ticket_id, deadline=60)
                print(ferry.tickets.save_pdf(ticket_id, "voucher.pdf").name)
                # > voucher.pdf
            ```
        """
        call = VoucherFile.get("ticket", identifier(ticket_id, "ticket_id"), "pdf")
        call = replace(call, file=file_path(path, "path"))
        return _read("tickets.save_pdf", call, Passthrough[Path]())

    @method
    def read_pdf(self, ticket_id: str) -> Operation[bytes]:
        """Return the content of the boarding voucher, a PDF, without a file.

        The voucher is fetched as `save_pdf` does. Interface: GET /api/ticket/{id}/pdf.

        Args:
            ticket_id: The ticket.

        Returns:
            The PDF.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            VoucherNotReadyError: The voucher does not exist yet, or is sent by e-mail.
            NotFoundError: There is no such ticket.
            UnexpectedResponseError: The address is unusable, or does not return a whole PDF.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
                ferry.tickets.wait_pdf(ticket_id, deadline=60)
                print(ferry.tickets.read_pdf(ticket_id)[:5])
                # > b'%PDF-'
            ```
        """
        call = VoucherFile.get("ticket", identifier(ticket_id, "ticket_id"), "pdf")
        return _read("tickets.read_pdf", call, Passthrough[bytes]())

    @method
    def mark_paid(
        self,
        ticket_id: str,
        *,
        external_payment_ref: str,
        psp: str | None = None,
        paid_at: datetime | str | None = None,
        booking_id: str | None = None,
    ) -> Operation[PaymentRecorded]:
        """Record that your customer has paid you for a ticket, so that it can be issued.

        No money moves: it tells the service what a payment provider has collected. The interface
        does not show how you settle with the service, nor whether it then issues the ticket without
        a confirmation; the local service does not.

        It sends the organisation token and is for servers only. It is sent again only if nothing
        was done, as after a 429. If the reply is lost, the booking, or without `booking_id` the
        ticket, is polled until it shows the effect or the deadline passes (30 seconds without a
        deadline).
        Interface: POST /api/ticket/{id}/mark-paid.

        Args:
            ticket_id: The ticket.
            external_payment_ref: The payment provider's transaction reference.
            psp: The name of the payment provider.
            paid_at: The time of payment: an aware `datetime`, or ISO 8601 with an offset, such as
                ``2027-03-20T10:00:00Z``.
            booking_id: The ticket's booking, for reading back; it is not sent. A booking shows
                that it is paid, a ticket only that it is issued.

        Returns:
            The ticket and its payment status.

        Raises:
            InvalidInputError: An argument is invalid, such as a `datetime` without an offset.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            ConfigurationError: The client has no organisation token.
            UnprocessableEntityError: The service does not accept an argument, such as the text in
                `paid_at`.
            TicketNotFoundError: There is no such ticket.
            ConflictError: The ticket has another payment, or can no longer be paid.
            AlreadyDoneError: The payment was recorded before, as the booking shows.
            OutcomeUnknownError: The payment may have been recorded.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Ferry(
                    sandbox.token,
                    base_url=sandbox.base_url,
                    organisation_token=sandbox.organisation_token,
                ) as ferry,
            ):
                booking = ferry.bookings.create(**crossing(ferry))
                (ticket,) = ferry.bookings.get(booking.booking_id).tickets
                paid = ferry.tickets.mark_paid(
                    ticket.id,
                    external_payment_ref="pi_1",
                    booking_id=booking.booking_id,
                )
                print(paid.payment_status, ferry.bookings.get(booking.booking_id).stage)
                # > paid issuance_due
            ```
        """
        subject = {"ticket_id": identifier(ticket_id, "ticket_id")}
        if booking_id is not None:
            subject["booking_id"] = identifier(booking_id, "booking_id")
        reference = arguments.text(external_payment_ref, "external_payment_ref")
        provider = arguments.optional(psp, "psp")
        time_of_payment = None if paid_at is None else arguments.moment(paid_at, "paid_at")
        body = arguments.drop_none(
            {"external_payment_ref": reference, "psp": provider, "paid_at": time_of_payment}
        )
        call = Rest.post(
            "ticket", ticket_id, "mark-paid", body=body, authority="organisation_token"
        )

        row = SAFETY["tickets.mark_paid"]
        identity = {**body, "ticket_id": ticket_id}
        write = Write(identity, subject, read_back=read_back(row, subject))
        answer = Record(PaymentRecorded, ticket_id=ticket_id)
        return Operation(call, answer, row, write=write, argument_names=_NAMES)


def _read(operation: str, call: Call, answer: Answer[T], wait: Wait | None = None) -> Operation[T]:
    """Return a read of the ticket in the path of the request, or a poll of it."""
    return Operation(call, answer, SAFETY[operation], wait=wait, argument_names=_NAMES)

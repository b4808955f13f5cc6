"""Tickets: read, priced for cancelling, cancelled, paid, and their vouchers."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from ferry_sdk._engine.operation import Operation, Write
from ferry_sdk._engine.parsing import Constant, Record
from ferry_sdk._engine.validation import seconds
from ferry_sdk._protocols.paths import file_path, identifier
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
from ferry_sdk.resources.base import Resource, TransportT_co, method
from ferry_sdk.resources.conditions import voucher_there
from ferry_sdk.resources.guards import penalty_within
from ferry_sdk.resources.read_back import read_back
from ferry_sdk.safety import SAFETY


class TicketsGroup(Resource[TransportT_co]):
    """Tickets and what is done with them."""

    @method
    def get(self, ticket_id: str) -> Operation[Ticket]:
        """Read one ticket.

        Interface: GET /api/ticket/{id}.

        Raises:
            NotFoundError: There is no such ticket.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Rest.get("ticket", identifier(ticket_id, "ticket_id")),
            Record(Ticket, id=ticket_id),
            SAFETY["tickets.get"],
        )

    @method
    def cancel(
        self,
        ticket_id: str,
        *,
        ticket_number: str | None = None,
        max_penalty: Decimal | int | str | None = None,
    ) -> Operation[TicketCancellation]:
        """Cancel one ticket before its departure; fees may apply.

        It is sent once. Where the reply is lost, the ticket is read until it shows the effect,
        the deadline has passed, or, without one, 30 seconds have.
        Interface: POST /api/ticket/cancel.

        Args:
            ticket_id: The ticket.
            ticket_number: The carrier's reference, to be sure of the ticket.
            max_penalty: What may be kept at the most, in the booking's currency; it is asked
                first, and nothing is cancelled if it is more.

        Returns:
            The cancellation; with `max_penalty` also what was `previewed`.

        Raises:
            PenaltyExceededError: More would be kept than is allowed.
            TicketCancelError: The service did not cancel it.
            OutcomeUnknownError: It may have been cancelled.
            FerryError: Anything else that went wrong.
        """
        subject = {"ticket_id": identifier(ticket_id, "ticket_id")}
        body = arguments.given(
            **subject, ticket_number=arguments.optional(ticket_number, "ticket_number")
        )
        row = SAFETY["tickets.cancel"]
        guard = None
        if max_penalty is not None:
            guard = penalty_within(arguments.money(max_penalty, "max_penalty"), ticket_id)
        return Operation(
            Rest.post("ticket", "cancel", body=body),
            Record(TicketCancellation, ticket_id=ticket_id),
            row,
            Write(subject, subject, read_back(row, subject), guard),
        )

    @method
    def cancel_fee(self, id: str) -> Operation[CancellationFee]:  # noqa: A002 -- the wire's name
        """What cancelling a ticket or a booking now would cost. Nothing is changed.

        Interface: POST /api/booking/cancel-fee.

        Args:
            id: A ticket or a booking.

        Returns:
            Penalty and refund in `currency`.

        Raises:
            FerryError: Anything that went wrong.
        """
        body = {"id": identifier(id, "id")}
        return Operation(
            Rest.post("booking", "cancel-fee", body=body),
            Record(CancellationFee),
            SAFETY["tickets.cancel_fee"],
        )

    @method
    def pdf(self, ticket_id: str) -> Operation[Voucher]:
        """Where the boarding voucher is.

        Interface: GET /api/ticket/{id}/pdf.

        Returns:
            Its address; ``url`` is None while it is not there yet, or for ever where the
            carrier sends it by e-mail.

        Raises:
            NotFoundError: There is no such ticket.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Rest.get("ticket", identifier(ticket_id, "ticket_id"), "pdf"),
            Record(Voucher, ticket_id=ticket_id),
            SAFETY["tickets.pdf"],
        )

    @method
    def wait_pdf(
        self,
        ticket_id: str,
        *,
        deadline: float,
        on_progress: Callable[[Voucher], Awaitable[None] | None] | None = None,
    ) -> Operation[Voucher]:
        """Ask for the boarding voucher again and again, until it has an address.

        Where the carrier sends it by e-mail it never has one. Failures that pass are outlived.
        Interface: GET /api/ticket/{id}/pdf.

        Args:
            ticket_id: The ticket.
            deadline: Seconds at the most; it goes before the client's own.
            on_progress: Called with every answer; awaited where it can be.

        Returns:
            The voucher with its address.

        Raises:
            RequestTimeoutError: It has none by the deadline.
            NotFoundError: There is no such ticket.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Rest.get("ticket", identifier(ticket_id, "ticket_id"), "pdf"),
            Record(Voucher, ticket_id=ticket_id),
            SAFETY["tickets.wait_pdf"],
            wait=voucher_there(seconds(deadline, "deadline"), on_progress),
        )

    @method
    def save_pdf(self, ticket_id: str, path: str | os.PathLike[str]) -> Operation[Path]:
        """Fetch the boarding voucher and put it into a file, whole or not at all.

        The token goes to the service's own address only. A voucher elsewhere is fetched over
        https, redirects followed, without it. Interface: GET /api/ticket/{id}/pdf.

        Args:
            ticket_id: The ticket.
            path: The file; one that exists is replaced. Its owner alone may read it.

        Returns:
            The file's path.

        Raises:
            NotFoundError: There is no such ticket, or no voucher to fetch.
            UnexpectedResponseError: What was fetched is no PDF, or led nowhere.
            FerryError: Anything else that went wrong.
            InvalidInputError: No file can be put there: there is no such folder, it cannot be
                written to, or something that is no file has the name.
            OSError: The disk failed.
        """
        return Operation(
            VoucherFile(identifier(ticket_id, "ticket_id"), file_path(path, "path")),
            Constant(Path),
            SAFETY["tickets.save_pdf"],
        )

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
        """Record a payment that was collected elsewhere.

        It carries the organisation token, and is for servers only. It is sent once. Where the
        reply is lost, the ticket, or the booking if it is named, is read until it shows the
        effect, the deadline has passed, or, without one, 30 seconds have.
        Interface: POST /api/ticket/{id}/mark-paid.

        Args:
            ticket_id: The ticket.
            external_payment_ref: The payment provider's reference of the transaction.
            psp: Name of the payment provider.
            paid_at: When it was paid: an aware datetime, or ISO 8601.
            booking_id: The ticket's booking; it is not sent. A booking shows that it is paid,
                a ticket only that it is issued.

        Raises:
            ConfigurationError: The client has no organisation token.
            OutcomeUnknownError: The payment may have been recorded.
            FerryError: Anything else that went wrong.
        """
        subject = {"ticket_id": identifier(ticket_id, "ticket_id")}
        if booking_id is not None:
            subject["booking_id"] = identifier(booking_id, "booking_id")
        row = SAFETY["tickets.mark_paid"]
        body = arguments.given(
            external_payment_ref=arguments.text(external_payment_ref, "external_payment_ref"),
            psp=arguments.optional(psp, "psp"),
            paid_at=None if paid_at is None else arguments.moment(paid_at, "paid_at"),
        )
        return Operation(
            Rest.post("ticket", ticket_id, "mark-paid", body=body, authority="organisation_token"),
            Record(PaymentRecorded, ticket_id=ticket_id),
            row,
            Write({**body, "ticket_id": ticket_id}, subject, read_back(row, subject)),
        )

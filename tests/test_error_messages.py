"""An error shows what the service says; what the call sent of a traveller and tokens are hidden."""

import copy
import html
import inspect
import logging
import pickle
import traceback
import unicodedata
from urllib.parse import quote

import httpx
import pytest
import typer

import ferry_sdk as sdk
from ferry_sdk import APIError, ConnectionFailedError, Ferry, FerryError, OutcomeUnknownError
from ferry_sdk.cli.terminal.errors import report_errors
from tests.support.exchanges import Exchanges, caught
from tests.support.samples import BOOKING_CREATED
from tests.support.tables import each
from tests.support.trip import booked, search_arguments

MESSAGES = (
    "Payment method declined by the acquirer: insufficient funds",
    "No cabins of type AB2 left on Fantastic",
    "The fare FLEX-7 of GNV is not sold with a vehicle higher than 2.10 m",
    "Port ITGOA is closed until 14:30 on 3 June 2050",
    "Booking 4Q7XK2 is in state PAYMENT_DUE; expected TICKETED",
    "Ticket e1b2c3d4-0001-4000-8000-00000000abcd was voided by operator Grimaldi Lines",
    "Total is 1,284.50 EUR, deposit 128.45 EUR (10 %)",
    "Upstream error from CARONTE&TOURIST: timeout <30 s>",
    "vehicle.code: no model TESLA__CYBERTRUCK; try TESLA__MODEL_Y",
    'Unknown tariff "SUPER ECO"; allowed: "ECO", "FLEX"',
    "Quota exceeded: 100% of the allotment for line Genova-Palermo is sold",
    "Contact the agency desk, extension 4411, quote ref. #88-B/2",
    "La cabina quadrupla è esaurita sulla nave Moby Aki",
    "Prezzo aggiornato: € 231,40 anziché € 219,90",
    "Documento d'identità scaduto il giorno della partenza",
    "Le navire Danielle Casanova est complet pour les véhicules",
    "Tarif « Liberté » indisponible, montant dû : 1\u202f204,00\u00a0€",
    "¿Desea otra fecha? No hay plazas el 2 de agosto",
    "La tarifa de residente exige certificado de la Generalitat",
    "Reembolso del 80 %: 64,00 € sobre 80,00 €",
    "Die Fähre Peter Pan nimmt keine Gefahrgüter mit",
    "Höchstens 4 Personen je Außenkabine (Kategorie 4A)",
    "Το πλοίο Blue Star Delos είναι πλήρες για οχήματα",  # noqa: RUF001 -- Greek
    "لا توجد مقاعد على الباخرة تانيت يوم 2 يونيو",
)


def terminal(error, capsys):
    def fail():
        raise error

    with pytest.raises(typer.Exit):
        report_errors(fail)()
    return capsys.readouterr().err


def copies(error):
    return [pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)]


def shown(error):
    pickled = pickle.dumps(error, 0).decode("latin-1")
    return (
        f"{error} {error!r} {error.attempts} {''.join(traceback.format_exception(error))} {pickled}"
    )


def refusal(call, *args, **kwargs):
    with pytest.raises(APIError) as refused:
        call(*args, **kwargs)
    return refused.value


def test_a_message_is_shown_whole(both, ferry_sandbox, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    booking = booked(both)
    for number, message in enumerate(MESSAGES):
        code = f"REASON_{number}"
        operation = "mcp.confirm_booking" if number % 2 else "bookings.confirm"
        confirm = both.mcp.confirm_booking if number % 2 else both.bookings.confirm
        ferry_sandbox.faults.add("refused", operation, message=message, code=code)
        error = refusal(confirm, booking.booking_id)
        for one in (error, *copies(error)):
            assert isinstance(one, APIError)
            assert (one.message, one.code) == (message, code)
            assert message in str(one)
            assert code in str(one)
        assert message in terminal(error, capsys)
        assert message not in caplog.text


def entities(text):
    return "".join(f"&#{ord(letter)};" for letter in text)


def without_accents(text):
    letters = unicodedata.normalize("NFD", text.replace("ß", "ss").replace("Ł", "L"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def transliterated(text):
    for letter, plain in {"ü": "ue", "ö": "oe", "ä": "ae"}.items():
        text = text.replace(letter, plain)
    return without_accents(text)


SPELLINGS = (
    lambda first, last: f"{first} {last}",
    lambda first, last: f"{last}, {first}",
    lambda first, last: f"{first} {last}".upper(),
    lambda first, last: f"{first} {last}".lower(),
    lambda first, last: without_accents(f"{first} {last}"),
    lambda first, last: transliterated(f"{first} {last}"),
    lambda first, last: transliterated(f"{last}/{first}").upper(),
    lambda first, last: f"{first}-{last}".replace(" ", "-"),
    lambda first, last: f"{first}_{last}".replace(" ", "_"),
    lambda first, last: f"{first}{last}".replace(" ", ""),
    lambda first, last: f"{last}{first}".replace("-", ""),
    lambda first, last: f"{first[0]}.{last}",
    lambda first, last: f"{first[0]}{last}",
    lambda first, last: quote(f"{first} {last}"),
    lambda first, last: quote(f"{first} {last}".replace("Ł", "L"), encoding="latin-1"),
    lambda first, last: html.escape(f"{first} {last}"),
    lambda first, last: entities(f"{first} {last}"),
    lambda first, last: "\u200b".join(f"{first} {last}"),
    lambda first, last: unicodedata.normalize("NFD", f"{first} {last}"),
    lambda first, last: f"{first} {last}".encode("ascii", "backslashreplace").decode(),
    lambda first, last: f"{first} {last}".encode().decode("cp1252", "replace"),
    lambda first, last: (
        f"P<ITA{transliterated(last)}<<{transliterated(first)}<<<<<".upper()
        .replace(" ", "<")
        .replace("-", "<")
    ),
)
TRAVELLERS = (
    *(("Marguerite", "Okonkwo"), ("Zoë", "Müller-Weiß"), ("Jean-Luc", "O'Brien")),
    *(("Łucja Ana", "de la Cruz"), ("Li", "Ng")),
)
PIECES = (
    *("marguerite", "okonkwo", "zoe", "muller", "mueller", "weis", "jean", "luc", "brien"),
    *("ucja", "cruz", "ng"),
)


def plain(text):
    return without_accents(html.unescape(text)).lower()


def test_the_travellers_of_a_call_are_hidden_in_every_spelling(both, ferry_sandbox, capsys):
    adult = {"type": "Adult", "gender": "Female", "age": 30}
    search = search_arguments() | {"passengers": [adult] * len(TRAVELLERS)}
    availability = both.availability.search(**search)[0]
    selection = availability.select(tariff=availability.tariffs[0], place=availability.places[0])
    passengers = [adult | {"first_name": one, "last_name": last} for one, last in TRAVELLERS]
    for number, spelling in enumerate(SPELLINGS):
        operation = "mcp.create_booking" if number % 2 else "bookings.create"
        create = both.mcp.create_booking if number % 2 else both.bookings.create
        spelt = "; ".join(spelling(first, last) for first, last in TRAVELLERS)
        ferry_sandbox.faults.add("refused", operation, message=f"refused: {spelt}; 2 berths left.")
        error = refusal(create, availabilities=[selection], passengers=passengers)
        for one in (error, *copies(error)):
            assert str(one).startswith("refused: ")
            assert "2 berths left." in str(one)
            text = plain(f"{shown(one)} {terminal(one, capsys)}").replace("berths", "")
            text = text.replace("[hidden]", "").split("refused: ")[1].split("; 2 ")[0]
            assert not [piece for piece in PIECES if piece in text], (number, spelt, text)


TOKEN = "tok-Ab12Cd34Ef56"
"""A token that the service repeats."""
READ_BACK = 2
"""Seconds for a call whose booking is read back until they are over."""
PASSENGER = {
    "type": "Adult",
    "first_name": "Marguerite",
    "last_name": "Okonkwo",
    "gender": "Female",
    "birth_date": "1980-03-02",
    "doc_number": "XD998877",
    "email": "m.okonkwo@mail.example",
}
BOOKING = {
    "availabilities": [{"availability_id": "a", "tariff_id": "t", "place_id": "p"}],
    "passengers": [PASSENGER],
    "contact": {"name": "Adaeze Okonkwo", "email": "desk@agency.example", "phone": "612345987"},
}


def client(answer, **settings):
    service = answer if inspect.isfunction(answer) else Exchanges(answer)
    http_client = httpx.Client(transport=httpx.MockTransport(service))
    settings = {"http_client": http_client, "max_retries": 0} | settings
    return Ferry(TOKEN, base_url="https://ferry.example", **settings)


SECRETS = (
    *(TOKEN, quote(TOKEN).replace("-", "%2D"), "1980-03-02", "2 March 1980", "02/03/80", "800302"),
    *("xd 998877", "Adaeze", "612 345-987", "someone.else@other.example", "DESK@AGENCY.EXAMPLE"),
)


def test_tokens_and_all_other_data_are_hidden_and_a_long_message_is_cut():
    message = "\r\n".join(f"line {secret} end" for secret in SECRETS)
    body = {"error": True, "code": "DOC_EXPIRED for XD998877", "message": message}
    rest = httpx.Response(409, json=body, headers={"x-request-id": "req-OKONKWO"})
    mcp = httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": body})
    for create in (client(rest).bookings.create, client(mcp).mcp.create_booking):
        error = refusal(create, **BOOKING)
        assert error.message == " ".join(["line [hidden] end"] * len(SECRETS))
        assert error.code == "DOC_EXPIRED for [hidden]"
        assert not [secret for secret in (*SECRETS, "OKONKWO") if secret in shown(error)]
        assert error.body, "in memory"
        assert pickle.loads(pickle.dumps(error)).body is None
    reply = httpx.Response(200, json=BOOKING_CREATED | {"total_price": "Okonkwo"})
    create = client(reply, deadline=READ_BACK).bookings.create
    error = caught(OutcomeUnknownError, create, **BOOKING).__cause__
    assert isinstance(error, sdk.UnexpectedResponseError)
    assert error.field == "total_price"
    assert b"Okonkwo" not in pickle.dumps(error)
    cut = {"é" * 501: "é" * 500, "\x07\u202e": "Conflict", "a\u2028b\tc": "a b c"}
    for message, shown_message in cut.items():
        reply = httpx.Response(409, json={"code": "X", "message": message})
        assert refusal(client(reply).bookings.get, "b-1").message == shown_message


UNREADABLE = "the reply cannot be read as BookingCreated: total_price: "
NOT_JSON = httpx.Response(200, text="no JSON of Okonkwo", headers={"content-type": "text/x-json"})
OWN_WORDS = {
    "Booking": (
        httpx.Response(400, json={"code": "BOOKING_CREATE_ERROR", "message": "Booking? no"}),
        "[hidden]? no (HTTP 400, BOOKING_CREATE_ERROR)",
    ),
    "Conflict": (
        httpx.Response(409, json={"code": "NO_CONFLICT"}),
        "Conflict (HTTP 409, NO_[hidden])",
    ),
    "Deadline": (
        httpx.ReadTimeout("the Deadline for Okonkwo"),
        "ReadTimeout: the [hidden] for [hidden] (ferry.example:443)",
    ),
    "Ferry": (
        httpx.ConnectError("no way to Okonkwo"),
        "ConnectError: no way to [hidden] (ferry.example:443)",
    ),
    "Reply": (
        httpx.Response(200, json=BOOKING_CREATED | {"total_price": "Reply"}),
        f"{UNREADABLE}Input should be a valid decimal",
    ),
    "Json": (NOT_JSON, "the reply is not JSON (HTTP 200, text/x-[hidden])"),
}
"""Names of travellers that are words of the library too, the answer, and the message."""


@each("name", OWN_WORDS)
def test_a_name_that_is_a_word_of_the_library_hides_only_words_of_the_service(name):
    answer, message = OWN_WORDS[name]
    booking = BOOKING | {"passengers": [PASSENGER | {"first_name": name}]}
    with pytest.raises(FerryError) as raised:
        client(answer, deadline=READ_BACK).bookings.create(**booking)
    cause = raised.value.__cause__
    error = cause if isinstance(raised.value, OutcomeUnknownError) else raised.value
    assert str(error) == message
    assert str(error) in str(raised.value)
    if isinstance(error, APIError):
        assert error.code in message
    for one in (error, raised.value):
        assert b"Okonkwo" not in pickle.dumps(one)


def test_an_id_is_redacted_and_a_failed_download_names_the_server_of_the_file(caplog, tmp_path):
    reply = httpx.Response(200, json=BOOKING_CREATED, headers={"x-request-id": "req-OKONKWO"})
    (attempt,) = client(reply).with_raw_response.bookings.create(**BOOKING).attempts
    assert attempt.request_id == "req-[hidden]"
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    client(reply).bookings.create(**BOOKING)
    assert "req-[hidden]" in caplog.text
    assert "OKONKWO" not in caplog.text
    events = []
    client(reply, event_hooks={"response": [events.append]}).bookings.create(**BOOKING)
    assert [event.request_id for event in events] == ["req-[hidden]"]

    def answer(request):
        if request.url.host == "files.example":
            raise httpx.ConnectError("[Errno 111] Connection refused")
        return httpx.Response(200, json={"ticket_id": "t-1", "url": "https://files.example/t-1"})

    save = client(answer).tickets.save_pdf
    error = caught(ConnectionFailedError, save, "t-1", tmp_path / "ticket.pdf")
    assert str(error).endswith("refused (files.example:443)")

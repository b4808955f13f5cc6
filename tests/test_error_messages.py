"""An error shows what the service says, without tokens and what the call sent of a traveller."""

import copy
import html
import inspect
import logging
import pickle
import traceback
import unicodedata
from operator import attrgetter
from urllib.parse import quote

import httpx
import pytest
import typer

from ferry_sdk import (
    APIError,
    ConnectionFailedError,
    Ferry,
    FerryError,
    OutcomeUnknownError,
    UnexpectedResponseError,
)
from ferry_sdk.cli.terminal.errors import report_errors
from ferry_sdk.sandbox import Sandbox
from tests.support.exchanges import Exchanges, caught
from tests.support.samples import BOOKING_CREATED
from tests.support.trip import NOW, booked, search_arguments

pytestmark = pytest.mark.usefixtures("read_back_once")

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


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def booking_id(service):
    """A booking of the service, which refuses to confirm it."""
    with Ferry(service.token, base_url=service.base_url) as ferry:
        return booked(ferry).booking_id


@pytest.fixture
def client(clients, service):
    return clients(service.token, base_url=service.base_url)


def print_in_terminal(error, capsys):
    """Return what the command line prints of an error."""

    def fail():
        raise error

    with pytest.raises(typer.Exit):
        report_errors(fail)()
    return capsys.readouterr().err


def copies_of(error):
    """Return an error and its copies."""
    return [error, pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)]


def shown(error):
    """Return all that a program or a log may show of an error."""
    pickled = pickle.dumps(error, 0).decode("latin-1")
    return (
        f"{error} {error!r} {error.attempts} {''.join(traceback.format_exception(error))} {pickled}"
    )


def refusal(call, *args, **kwargs):
    with pytest.raises(APIError) as refused:
        call(*args, **kwargs)
    return refused.value


@pytest.fixture
def refuse(service, client, booking_id):
    """A function that returns the error of a refused confirmation with a message."""

    def confirm(message, operation="bookings.confirm"):
        service.faults.add("refused", operation, message=message, code="REASON_7")
        return refusal(attrgetter(operation)(client), booking_id)

    return confirm


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("operation", ["bookings.confirm", "mcp.confirm_booking"])
def test_message_is_shown_whole(refuse, operation, message):
    for error in copies_of(refuse(message, operation)):
        assert isinstance(error, APIError)
        assert (error.message, error.code) == (message, "REASON_7")
        assert message in str(error)
        assert "REASON_7" in str(error)


@pytest.mark.parametrize("message", MESSAGES)
def test_command_line_prints_the_message(refuse, message, capsys):
    assert message in print_in_terminal(refuse(message), capsys)


@pytest.mark.parametrize("operation", ["bookings.confirm", "mcp.confirm_booking"])
def test_message_is_not_logged(refuse, operation, caplog):
    caplog.set_level(logging.DEBUG)
    refuse(MESSAGES[0], operation)
    assert MESSAGES[0] not in caplog.text


def entities(text):
    return "".join(f"&#{ord(letter)};" for letter in text)


def without_accents(text):
    letters = unicodedata.normalize("NFD", text.replace("ß", "ss").replace("Ł", "L"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def transliterated(text):
    for letter, plain in {"ü": "ue", "ö": "oe", "ä": "ae"}.items():
        text = text.replace(letter, plain)
    return without_accents(text)


SPELLINGS = {
    "as sent": lambda first, last: f"{first} {last}",
    "last name first": lambda first, last: f"{last}, {first}",
    "upper case": lambda first, last: f"{first} {last}".upper(),
    "lower case": lambda first, last: f"{first} {last}".lower(),
    "without accents": lambda first, last: without_accents(f"{first} {last}"),
    "transliterated": lambda first, last: transliterated(f"{first} {last}"),
    "as on a ticket": lambda first, last: transliterated(f"{last}/{first}").upper(),
    "with hyphens": lambda first, last: f"{first}-{last}".replace(" ", "-"),
    "with underscores": lambda first, last: f"{first}_{last}".replace(" ", "_"),
    "without spaces": lambda first, last: f"{first}{last}".replace(" ", ""),
    "without hyphens": lambda first, last: f"{last}{first}".replace("-", ""),
    "initial with a dot": lambda first, last: f"{first[0]}.{last}",
    "initial": lambda first, last: f"{first[0]}{last}",
    "URL": lambda first, last: quote(f"{first} {last}"),
    "URL in Latin-1": lambda first, last: quote(
        f"{first} {last}".replace("Ł", "L"), encoding="latin-1"
    ),
    "HTML": lambda first, last: html.escape(f"{first} {last}"),
    "entities": lambda first, last: entities(f"{first} {last}"),
    "zero-width spaces": lambda first, last: "\u200b".join(f"{first} {last}"),
    "decomposed": lambda first, last: unicodedata.normalize("NFD", f"{first} {last}"),
    "escapes": lambda first, last: f"{first} {last}".encode("ascii", "backslashreplace").decode(),
    "wrong encoding": lambda first, last: f"{first} {last}".encode().decode("cp1252", "replace"),
    "machine-readable": lambda first, last: (
        f"P<ITA{transliterated(last)}<<{transliterated(first)}<<<<<".upper()
        .replace(" ", "<")
        .replace("-", "<")
    ),
}
"""How a service may write a name."""
TRAVELLERS = [
    ("Marguerite", "Okonkwo"),
    ("Zoë", "Müller-Weiß"),
    ("Jean-Luc", "O'Brien"),
    ("Łucja Ana", "de la Cruz"),
    ("Li", "Ng"),
]
PIECES = [
    "marguerite",
    "okonkwo",
    "zoe",
    "muller",
    "mueller",
    "weis",
    "jean",
    "luc",
    "brien",
    "ucja",
    "cruz",
    "ng",
]
"""Parts of their names, of which none may be shown."""


def plain(text):
    return without_accents(html.unescape(text)).lower()


@pytest.fixture(scope="module")
def order(service):
    """What `create` takes for these travellers."""
    adult = {"type": "Adult", "gender": "Female", "age": 30}
    search = search_arguments() | {"passengers": [adult] * len(TRAVELLERS)}
    with Ferry(service.token, base_url=service.base_url) as ferry:
        sailing = ferry.availability.search(**search)[0]
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    passengers = [adult | {"first_name": first, "last_name": last} for first, last in TRAVELLERS]
    return {"availabilities": [selection], "passengers": passengers}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("operation", ["bookings.create", "mcp.create_booking"])
def test_travellers_are_hidden_in_every_spelling(
    service, client, order, capsys, operation, spelling
):
    names = "; ".join(SPELLINGS[spelling](first, last) for first, last in TRAVELLERS)
    service.faults.add("refused", operation, message=f"refused: {names}; 2 berths left.")
    for error in copies_of(refusal(attrgetter(operation)(client), **order)):
        assert str(error).startswith("refused: ")
        assert "2 berths left." in str(error)
        text = plain(f"{shown(error)} {print_in_terminal(error, capsys)}").replace("berths", "")
        text = text.replace("[hidden]", "").split("refused: ")[1].split("; 2 ")[0]
        assert not [piece for piece in PIECES if piece in text], text


TOKEN = "tok-Ab12Cd34Ef56"
"""A token that the service repeats."""
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


def client_with(answer, **settings):
    """Return a client whose service has one reply, or a function that makes it."""
    service = answer if inspect.isfunction(answer) else Exchanges(answer)
    http_client = httpx.Client(transport=httpx.MockTransport(service))
    settings = {"http_client": http_client, "max_retries": 0} | settings
    return Ferry(TOKEN, base_url="https://ferry.example", **settings)


SECRETS = [
    TOKEN,
    quote(TOKEN).replace("-", "%2D"),
    "1980-03-02",
    "2 March 1980",
    "02/03/80",
    "800302",
    "xd 998877",
    "Adaeze",
    "612 345-987",
    "someone.else@other.example",
    "DESK@AGENCY.EXAMPLE",
]
"""The token, what the call sent in other spellings, and an address that it did not send."""
REFUSAL = {
    "error": True,
    "code": "DOC_EXPIRED for XD998877",
    "message": "\r\n".join(f"line {secret} end" for secret in SECRETS),
}


@pytest.fixture(params=["bookings.create", "mcp.create_booking"])
def refused(request):
    """The error of a refusal that names all secrets."""
    reply = httpx.Response(409, json=REFUSAL, headers={"x-request-id": "req-OKONKWO"})
    if request.param.startswith("mcp"):
        reply = httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": REFUSAL})
    return refusal(attrgetter(request.param)(client_with(reply)), **BOOKING)


def test_message_hides_all_secrets(refused):
    assert refused.message == " ".join(["line [hidden] end"] * len(SECRETS))


def test_code_hides_a_document(refused):
    assert refused.code == "DOC_EXPIRED for [hidden]"


def test_nothing_of_an_error_shows_a_secret(refused):
    assert not [secret for secret in (*SECRETS, "OKONKWO") if secret in shown(refused)]


def test_pickle_has_no_body(refused):
    assert refused.body
    assert pickle.loads(pickle.dumps(refused)).body is None


def test_unreadable_reply_names_its_field_only():
    reply = httpx.Response(200, json=BOOKING_CREATED | {"total_price": "Okonkwo"})
    create = client_with(reply).bookings.create
    error = caught(OutcomeUnknownError, create, **BOOKING).__cause__
    assert isinstance(error, UnexpectedResponseError)
    assert error.field == "total_price"
    assert b"Okonkwo" not in pickle.dumps(error)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("é" * 501, "é" * 500),
        ("\x07\u202e", "Conflict"),
        ("a\u2028b\tc", "a b c"),
    ],
    ids=["long", "invisible", "lines"],
)
def test_message_is_one_short_line(message, expected):
    reply = httpx.Response(409, json={"code": "X", "message": message})
    assert refusal(client_with(reply).bookings.get, "b-1").message == expected


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


@pytest.mark.parametrize("name", OWN_WORDS)
def test_word_of_the_library_is_not_hidden(name):
    answer, message = OWN_WORDS[name]
    booking = BOOKING | {"passengers": [PASSENGER | {"first_name": name}]}
    with pytest.raises(FerryError) as raised:
        client_with(answer).bookings.create(**booking)

    cause = raised.value.__cause__
    error = cause if isinstance(raised.value, OutcomeUnknownError) else raised.value
    assert str(error) == message
    assert str(error) in str(raised.value)
    if isinstance(error, APIError):
        assert error.code in message
    assert b"Okonkwo" not in pickle.dumps(error)
    assert b"Okonkwo" not in pickle.dumps(raised.value)


NAMING_REPLY = httpx.Response(200, json=BOOKING_CREATED, headers={"x-request-id": "req-OKONKWO"})
"""A reply whose request id names a traveller."""


def test_request_id_of_an_attempt_is_redacted():
    answer = client_with(NAMING_REPLY).with_raw_response.bookings.create(**BOOKING)
    assert [attempt.request_id for attempt in answer.attempts] == ["req-[hidden]"]


def test_request_id_of_the_log_is_redacted(caplog):
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    client_with(NAMING_REPLY).bookings.create(**BOOKING)
    assert "req-[hidden]" in caplog.text
    assert "OKONKWO" not in caplog.text


def test_request_id_of_an_event_is_redacted():
    events = []
    hooks = {"response": [events.append]}
    client_with(NAMING_REPLY, event_hooks=hooks).bookings.create(**BOOKING)
    assert [event.request_id for event in events] == ["req-[hidden]"]


def test_failed_download_names_the_server_of_the_file(tmp_path):
    def answer(request):
        if request.url.host == "files.example":
            raise httpx.ConnectError("[Errno 111] Connection refused")
        return httpx.Response(200, json={"ticket_id": "t-1", "url": "https://files.example/t-1"})

    save = client_with(answer).tickets.save_pdf
    error = caught(ConnectionFailedError, save, "t-1", tmp_path / "ticket.pdf")
    assert str(error).endswith("refused (files.example:443)")

"""An error shows what the service says; what the call sent of a traveller and tokens are hidden."""

import copy
import html
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
from tests.support.exchanges import URL, Exchanges
from tests.support.samples import BOOKING_CREATED
from tests.support.tables import each

MESSAGES = (
    "Payment method declined by the acquirer: insufficient funds",
    "The fare FLEX-7 of GNV is not sold with a vehicle higher than 2.10 m",
    "Booking 4Q7XK2 is in state PAYMENT_DUE; expected TICKETED",
    "Ticket e1b2c3d4-0001-4000-8000-00000000abcd was voided by operator Grimaldi Lines",
    "Total is 1,284.50 EUR, deposit 128.45 EUR (10 %)",
    "vehicle.code: no model TESLA__CYBERTRUCK; try TESLA__MODEL_Y",
    'Unknown tariff "SUPER ECO"; allowed: "ECO", "FLEX"',
    "Quota exceeded: 100% of the allotment for line Genova-Palermo is sold",
    "Prezzo aggiornato: € 231,40 anziché € 219,90",
    "Documento d'identità scaduto il giorno della partenza",
    "Tarif « Liberté » indisponible, montant dû : 1\u202f204,00\u00a0€",
    "L'embarquement à Sète ferme 90 minutes avant le départ",
    "¿Desea otra fecha? No hay plazas el 2 de agosto",
    "La tarifa de residente exige certificado de la Generalitat",
    "Reembolso del 80 %: 64,00 € sobre 80,00 €",
    "Für den Tarif Spar ist keine Umbuchung möglich",
    "Höchstens 4 Personen je Außenkabine (Kategorie 4A)",
    "Το εισιτήριο δεν επιστρέφεται μετά τις 18:00",  # noqa: RUF001 -- Greek
    "تذكرة طنجة المتوسط غير قابلة للاسترداد",
    "الدفع مرفوض: الرصيد غير كافٍ (الرمز 51)",
)


def terminal(error, capsys):
    """What a command prints that ends with the error."""

    def fail():
        raise error

    with pytest.raises(typer.Exit):
        report_errors(fail)()
    return capsys.readouterr().err


def copies(error):
    return [pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)]


def shown(error):
    """All that a program can show of an error without looking into `body` or `last_seen`."""
    pickled = pickle.dumps(error, 0).decode("latin-1")
    return (
        f"{error} {error!r} {error.attempts} {''.join(traceback.format_exception(error))} {pickled}"
    )


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


def client(*replies, **settings):
    transport = httpx.MockTransport(Exchanges(*replies))
    http_client = httpx.Client(transport=transport)
    return Ferry(TOKEN, base_url=URL, http_client=http_client, max_retries=0, **settings)


def refusal(reply, call="bookings.create", **arguments):
    with pytest.raises(APIError) as refused:
        attrgetter(call)(client(reply))(**(arguments or BOOKING))
    return refused.value


def refusals(body, request_id="r-1", **changes):
    """The errors of a booking that is refused in each protocol."""
    reply = httpx.Response(409, json=body, headers={"x-request-id": request_id})
    yield refusal(reply, **BOOKING | changes)
    reply = httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": body})
    yield refusal(reply, "mcp.create_booking", **BOOKING | changes)


def test_a_message_is_shown_whole(capsys, caplog):
    assert len(MESSAGES) == 20
    caplog.set_level(logging.DEBUG)
    for number, message in enumerate(MESSAGES):
        code = f"REASON_{number}"
        for error in refusals({"error": True, "code": code, "message": message}):
            for one in (error, *copies(error)):
                assert isinstance(one, APIError)
                assert (one.message, one.code) == (message, code)
                assert message in str(one)
                assert code in str(one)
            assert message in terminal(error, capsys)
            assert message not in caplog.text


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
    lambda first, last: transliterated(f"{first} {last}"),
    lambda first, last: transliterated(f"{last}/{first}").upper(),
    lambda first, last: f"{first}-{last}".replace(" ", "-"),
    lambda first, last: f"{first}_{last}".replace(" ", "_"),
    lambda first, last: f"{first}{last}".replace(" ", ""),
    lambda first, last: f"{last}{first}".replace("-", ""),
    lambda first, last: f"{first[0]}.{last}",
    lambda first, last: f"{first[0]}{last}",
    lambda first, last: html.escape(f"{first} {last}"),
    lambda first, last: f"{first} {last}".encode().decode("cp1252", "replace"),
    lambda first, last: (
        f"P<ITA{transliterated(last)}<<{transliterated(first)}<<<<<".upper()
        .replace(" ", "<")
        .replace("-", "<")
    ),
)
"""Names as services write them; `tests/engine/test_redaction.py` has the spellings of one."""
TRAVELLERS = (
    ("Marguerite", "Okonkwo"),
    ("Zoë", "Müller-Weiß"),
    ("Jean-Luc", "O'Brien"),
    ("Łucja Ana", "de la Cruz"),
    ("Li", "Ng"),
)
PIECES = (
    *("marguerite", "okonkwo", "zoe", "muller", "mueller", "weis", "jean", "luc", "brien"),
    *("ucja", "cruz", "ng"),
)


def plain(text):
    return without_accents(html.unescape(text)).lower()


def test_the_travellers_of_a_call_are_hidden_in_every_spelling(capsys):
    passengers = [
        {"type": "Adult", "gender": "Female", "age": 30, "first_name": first, "last_name": last}
        for first, last in TRAVELLERS
    ]
    for number, spelling in enumerate(SPELLINGS):
        spelt = "; ".join(spelling(first, last) for first, last in TRAVELLERS)
        body = {"error": True, "code": "X", "message": f"refused: {spelt}; 2 berths left."}
        for error in refusals(body, passengers=passengers):
            for one in (error, *copies(error)):
                assert str(one).startswith("refused: ")
                assert "2 berths left." in str(one)
                text = plain(f"{shown(one)} {terminal(one, capsys)}").replace("berths", "")
                text = text.replace("[hidden]", "").split("refused: ")[1].split("; 2 ")[0]
                assert not [piece for piece in PIECES if piece in text], (number, spelt, text)


def test_tokens_and_all_other_data_are_hidden_and_nothing_else():
    secrets = (
        TOKEN,
        quote(TOKEN).replace("-", "%2D"),
        *("1980-03-02", "2 March 1980", "02/03/80", "800302"),
        *("xd 998877", "Adaeze", "612 345-987"),
        *("someone.else@other.example", "DESK@AGENCY.EXAMPLE"),
    )
    message = "\r\n".join(f"line {secret} end" for secret in secrets)
    body = {"error": True, "code": "DOC_EXPIRED for XD998877", "message": message}
    for error in refusals(body, "req-OKONKWO"):
        assert error.message == " ".join(["line [hidden] end"] * len(secrets))
        assert error.code == "DOC_EXPIRED for [hidden]"
        assert not [secret for secret in (*secrets, "OKONKWO") if secret in shown(error)]
        assert error.body, "in memory"
        assert pickle.loads(pickle.dumps(error)).body is None


def test_a_field_of_a_reply_does_not_name_a_traveller():
    for name, field in (("Okonkwo", None), ("Pay", "possible_actions.Pay.time_limit.datetime")):
        actions = {name: {"type": "Pay", "time_limit": {}}}
        reply = httpx.Response(200, json=BOOKING_CREATED | {"possible_actions": actions})
        with pytest.raises(OutcomeUnknownError) as unknown:
            client(reply).bookings.create(**BOOKING)
        error = unknown.value.__cause__
        assert isinstance(error, UnexpectedResponseError)
        assert error.field == field
        assert b"Okonkwo" not in pickle.dumps(error)


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
        httpx.Response(200, json=BOOKING_CREATED | {"possible_actions": {"Reply": {"type": 1}}}),
        (
            "the reply cannot be read as BookingCreated: possible_actions.[hidden].type: "
            "Input should be 'mandatory' or 'optional'"
        ),
    ),
    "Json": (
        httpx.Response(200, text="no JSON of Okonkwo", headers={"content-type": "text/x-json"}),
        "the reply is not JSON (HTTP 200, text/x-[hidden])",
    ),
}
"""Names of travellers that are words of the library too, the answer, and the message."""


@each("name", OWN_WORDS)
def test_a_name_that_is_a_word_of_the_library_hides_only_words_of_the_service(name):
    answer, message = OWN_WORDS[name]
    with pytest.raises(FerryError) as raised:
        client(answer).bookings.create(
            **BOOKING | {"passengers": [PASSENGER | {"first_name": name}]}
        )
    cause = raised.value.__cause__
    error = cause if isinstance(raised.value, OutcomeUnknownError) else raised.value
    assert str(error) == message
    assert str(error) in str(raised.value)
    if isinstance(error, APIError):
        assert error.code in message
    for one in (error, raised.value):
        assert b"Okonkwo" not in pickle.dumps(one)


def test_a_long_message_is_cut_after_500_characters():
    for message, shown_message in (
        ("é" * 501, "é" * 500),
        ("\x07\u202e", "Conflict"),
        ("a\u2028b\tc", "a b c"),
    ):
        reply = httpx.Response(409, json={"code": "X", "message": message})
        assert refusal(reply, "bookings.get", booking_id="b-1").message == shown_message


def test_an_id_is_redacted_where_somebody_sees_it(caplog):
    headers = {"x-request-id": "req-OKONKWO"}
    reply = httpx.Response(200, json=BOOKING_CREATED, headers=headers)
    (attempt,) = client(reply).with_raw_response.bookings.create(**BOOKING).attempts
    assert attempt.request_id == "req-[hidden]"
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    client(reply).bookings.create(**BOOKING)
    assert "req-[hidden]" in caplog.text
    assert "OKONKWO" not in caplog.text
    events = []
    client(reply, event_hooks={"response": [events.append]}).bookings.create(**BOOKING)
    assert [event.request_id for event in events] == ["req-[hidden]"]


def test_a_failed_download_names_the_server_of_the_file(tmp_path):
    voucher = httpx.Response(200, json={"ticket_id": "t-1", "url": "https://files.example/t-1"})
    ferry = client(voucher, httpx.ConnectError("[Errno 111] Connection refused"))
    with pytest.raises(ConnectionFailedError, match=r"refused \(files\.example:443\)$"):
        ferry.tickets.save_pdf("t-1", tmp_path / "ticket.pdf")

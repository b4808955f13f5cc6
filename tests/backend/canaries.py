"""Tokens and a traveller that must show up nowhere, and all the places to look."""

import pickle
import traceback
from pathlib import Path

import ferry_sdk

TOKEN = "canary-token-81c7"
ORGANISATION = "canary-organisation-93fe"
PASSENGER = {
    "type": "Adult",
    "first_name": "Canarywoman",
    "last_name": "O'Canary-Smythe",
    "gender": "Female",
    "birth_date": "1979-03-17",
    "nationality": "FR",
    "doc_type": "Passport",
    "doc_number": "CANARYDOC771",
    "doc_expiration": "2061-11-29",
    "email": "canary.passenger@mail.example",
}
CONTACT = {
    "name": "Canary Contactname",
    "email": "canary.contact@mail.example",
    "prefix": "+33",
    "phone": "612345987",
}
VEHICLE = {"code": "CAR", "identification": "CA-771-NY"}
PERSONAL = (
    PASSENGER["first_name"],
    PASSENGER["last_name"],
    PASSENGER["birth_date"],
    PASSENGER["doc_number"],
    PASSENGER["doc_expiration"],
    PASSENGER["email"],
    CONTACT["name"],
    CONTACT["email"],
    CONTACT["phone"],
    VEHICLE["identification"],
)
CANARIES = (TOKEN, ORGANISATION, *PERSONAL)
BOOKING = {
    "passengers": [PASSENGER],
    "contact": CONTACT,
    "vehicle": VEHICLE,
    "availabilities": [{"availability_id": "a", "tariff_id": "t", "place_id": "p"}],
}
FORBIDDEN = ("a\r\nx-admin: 1", "a\rb", "a\nb", "caf\xe9", "\u010d\u010a", "a\x00b", "a\x7f", " ")
"""Values that would break out of a header, or cannot stand in one."""
HOME = str(Path(ferry_sdk.__file__).parent)


def leaks(text):
    """Return the canaries that a text shows."""
    return [canary for canary in CANARIES if canary in text]


def chain(error):
    """Give the error and those that a traceback shows before it."""
    link = error
    while link is not None:
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def frames_of(error):
    """Return the library's frames of an error, with their local variables."""
    lines = []
    for link in chain(error):
        trace = traceback.TracebackException.from_exception(link, capture_locals=True)
        lines += [
            f"{frame.name} {frame.line} {frame.locals}"
            for frame in trace.stack
            if frame.filename.startswith(HOME)
        ]
    return "\n".join(lines)


def shown(error):
    """Return all that a program or a person can see of an error without asking for the body."""
    parts = [frames_of(error)]
    for link in chain(error):
        parts += [str(link), repr(link), repr(link.args), getattr(link, "message", "")]
        pickled = pickle.dumps(link, 0)
        parts += [pickled.decode("latin-1"), repr(pickle.loads(pickled).__dict__)]
        parts.append("".join(traceback.format_exception_only(type(link), link)))
    return "\n".join(parts)

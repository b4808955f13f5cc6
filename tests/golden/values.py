"""Makes pickles of errors and of other values, and records as JSON."""

import base64
import json
import pickle

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ferry_sdk import Rate, Travellers, models
from ferry_sdk.models import Port, Records
from tests.models.test_models import RECORDS
from tests.support import samples
from tests.test_errors import FAMILY, MEMORY_ONLY, filled

_PROTOCOL = 4
"""The protocol that each supported Python reads, and most write by default."""
_PERSON = {
    "type": "Adult",
    "first_name": "Ada",
    "last_name": "Reyes",
    "gender": "Female",
    "age": 34,
    "birth_date": "2016-01-02",
    "nationality": "ES",
    "doc_type": "PASSPORT",
    "doc_number": "X1",
    "doc_expiration": "2060-01-02",
    "email": "ada@ferry.example",
    "order": 1,
}
_LEG = {"journey": samples.JOURNEY_ON_TICKET}
SAMPLES = RECORDS | {
    "Company": {"id": "BALEARIA", "code": "BA", "name": "Baleària", "logo": "b.png"},
    "Contact": {"name": "Ada", "email": "ada@ferry.example", "prefix": "+34", "phone": "600"},
    "Country": {"code": "ES", "name": "Spain", "phone_prefix": "+34", "names": {"fr": "Espagne"}},
    "McpPort": {
        "code": "ESTRF",
        "name": "Tarifa",
        "city": "Tarifa",
        "country": "Spain",
        "latitude": 36.01,
        "longitude": -5.6,
    },
    "McpResource": {
        "uri": "ferry://ports",
        "name": "ports",
        "title": "Ports",
        "description": "All ports.",
        "mimeType": "application/json",
    },
    "McpTool": {
        "name": "view_ticket",
        "title": "Ticket",
        "description": "Shows a ticket.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
    "Passenger": _PERSON,
    "ScheduledDeparture": {
        "journey_id": "jo-1",
        "company": {"code": "CTN"},
        "depart_code": "FRMRS",
        "arrive_code": "TNLGN",
        "ship": "Carthage",
        "depart_at": "2050-06-02T12:00:00+02:00",
        "arrive_at": "2050-06-03T09:00:00+01:00",
    },
    "SearchPassenger": {
        "type": "Adult",
        "gender": "Female",
        "age": 34,
        "order": 1,
        "param": "A",
    },
    "Selection": {
        "availability_id": "a-1",
        "tariff_id": "ta-1",
        "place_id": "p-1",
        "amount": "80.50",
        "currency": "EUR",
        "expiration_date": "2050-05-03T10:00:00Z",
        "company": "BALEARIA",
        "roundtrip_locked": True,
        "reservation_type": "TICKET",
        "depart_at": "2050-06-02T12:00:00+02:00",
        "depart_code": "ESTRF",
        "arrive_code": "MATNG",
    },
    "TicketJourneys": {"outward": _LEG, "return": _LEG},
    "TicketLeg": _LEG,
    "Traveller": _PERSON,
    "Vehicle": {
        "code": "CAR",
        "vehicule_code": "FIAT__500",
        "brand": "Fiat",
        "model": "500",
        "identification": "GE 123 AB",
    },
    "VehicleModel": {
        "code": "FIAT__500",
        "brand": "FIAT",
        "model": "500",
        "type": "CAR",
        "length": 3.6,
        "height": 1.5,
    },
    "VehicleQuery": {"code": "FIAT__500"},
}
"""What each record and each input is made of, with all its fields."""


def record_classes():
    """Return the classes of records and of inputs, by their names."""
    public = {name: getattr(models, name) for name in models.__all__}
    return {
        name: value
        for name, value in public.items()
        if isinstance(value, type) and issubclass(value, BaseModel) and value.model_fields
    }


def records():
    """Return each record as JSON, and its pickle."""
    made = {}
    for name, model in record_classes().items():
        record = model.model_validate(SAMPLES[name])
        made[name] = {"json": json.loads(record.model_dump_json()), "pickle": pickled(record)}
    return made


def errors():
    """Return the text, the fields and the pickle of an error of each class."""
    made = {}
    for error in map(filled, FAMILY):
        row = {"text": str(error), "fields": fields_of(error), "pickle": pickled(error)}
        made[type(error).__name__] = row
    return made


def fields_of(error):
    """Return the attributes of an error that a pickle has, as JSON; an error as its class."""
    kept = {name: value for name, value in vars(error).items() if name not in MEMORY_ONLY}
    return to_jsonable_python(kept, fallback=lambda value: type(value).__name__)


def others():
    """Return pickles of the other values that say how they are pickled."""
    ports = Records([Port.model_validate(samples.PORT)])
    values = [ports, Travellers([_PERSON]), Rate("50/second")]
    return {type(value).__name__: pickled(value) for value in values}


def pickled(value):
    """Return a pickle as text."""
    return base64.b64encode(pickle.dumps(value, _PROTOCOL)).decode()


def unpickled(text):
    """Return the value of a pickle."""
    return pickle.loads(base64.b64decode(text))

"""What a caller hands in: models, and typed dicts of the same shape."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from typing_extensions import Required, TypedDict

from ferry_sdk.models.base import Identifier
from ferry_sdk.models.enums import Gender, PassengerType

_TYPES = {
    "A": PassengerType.ADULT,
    "ADT": PassengerType.ADULT,
    "ADULT": PassengerType.ADULT,
    "C": PassengerType.CHILD,
    "CHD": PassengerType.CHILD,
    "CHILD": PassengerType.CHILD,
    "I": PassengerType.INFANT,
    "INF": PassengerType.INFANT,
    "INFANT": PassengerType.INFANT,
}
_GENDERS = {
    "M": Gender.MALE,
    "MALE": Gender.MALE,
    "F": Gender.FEMALE,
    "FEMALE": Gender.FEMALE,
}


def _passenger_type(value: object) -> object:
    if isinstance(value, str) and value.upper() in _TYPES:
        return _TYPES[value.upper()]
    raise ValueError("Adult, Child or Infant is expected")


def _gender(value: object) -> object:
    if isinstance(value, str) and value.upper() in _GENDERS:
        return _GENDERS[value.upper()]
    raise ValueError("Male or Female is expected")


_PassengerType = Annotated[PassengerType, BeforeValidator(_passenger_type)]
_Gender = Annotated[Gender, BeforeValidator(_gender)]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Age = Annotated[int, Field(ge=0, le=130)]
_Order = Annotated[int, Field(ge=1)]
_Country = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2}$", to_upper=True)]
_Day = Annotated[date, PlainSerializer(date.isoformat, return_type=str)]

PassengerTypeName = Literal["Adult", "Child", "Infant"]
PassengerParam = Literal["A", "C", "I"]
GenderName = Literal["Male", "Female", "M", "F"]


class Input(BaseModel):
    """What a caller hands in; a misspelt field is refused, and no value shows in an error."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        defer_build=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )


class SearchPassenger(Input):
    """One traveller of a search. Interface: Search passenger.

    Codes such as ADT or A are understood as well, and so are M and F.

    Attributes:
        type: Adult, Child or Infant.
        gender: Male or Female.
        age: True age in years on the day of travel; age bands differ by carrier.
        order: Number in the party from 1; by default the position in the list.
        param: The type's letter: A, C or I; by default that of the type.
    """

    type: _PassengerType
    gender: _Gender
    age: _Age
    order: _Order | None = None
    param: PassengerParam | None = None

    @field_validator("param", mode="after")
    @classmethod
    def _goes_with_type(
        cls, param: PassengerParam | None, info: ValidationInfo
    ) -> PassengerParam | None:
        kind = info.data.get("type")
        if param is not None and kind is not None and param != kind.value[0]:
            raise ValueError(f"{kind.value} is expected to be {kind.value[0]}")
        return param


class Passenger(Input):
    """One traveller of a booking. Interface: Booking-creation inputs.

    Names go as they stand on the travel document. Only the type and the two names show in
    every form of the interface; the rest is left out of the request where it is not given. The
    type is sent as ADT, CHD or INF where the protocol is MCP, and the gender as M or F.

    Attributes:
        type: Adult, Child or Infant.
        first_name: All given names.
        last_name: The family name.
        gender: Male or Female.
        age: Age in years on the day of travel.
        birth_date: A date, or its text as YYYY-MM-DD.
        nationality: Two-letter country code.
        doc_type: Kind of travel document, such as Passport.
        doc_number: Number of the travel document.
        doc_expiration: A date, or its text as YYYY-MM-DD.
        email: The traveller's own address.
        order: Number in the party from 1; by default the position in the list.
    """

    type: _PassengerType
    first_name: _Name = Field(repr=False)
    last_name: _Name = Field(repr=False)
    gender: _Gender | None = Field(default=None, repr=False)
    age: _Age | None = Field(default=None, repr=False)
    birth_date: _Day | None = Field(default=None, repr=False)
    nationality: _Country | None = Field(default=None, repr=False)
    doc_type: _Name | None = Field(default=None, repr=False)
    doc_number: _Name | None = Field(default=None, repr=False)
    doc_expiration: _Day | None = Field(default=None, repr=False)
    email: _Name | None = Field(default=None, repr=False)
    order: _Order | None = None


class Selection(Input):
    """An availability with the tariff and the place chosen. Interface: Booking-creation inputs.

    What `Availability.select` knows beyond the three ids is checked before a booking leaves. It
    is not sent, and not in ``model_dump``.

    Attributes:
        availability_id: The id of an availability.
        tariff_id: The id of one of its tariffs.
        place_id: The id of one of its places.
        expiration_date: Until when the tariff holds.
        company: The ferry company's id.
        roundtrip_locked: The tariff holds only as a round trip with the same carrier.
    """

    availability_id: Identifier
    tariff_id: Identifier
    place_id: Identifier
    expiration_date: AwareDatetime | None = Field(default=None, exclude=True)
    company: Identifier | None = Field(default=None, exclude=True)
    roundtrip_locked: bool = Field(default=False, exclude=True)


class VehicleQuery(Input):
    """The vehicle of a search. Interface: Booking flow.

    Attributes:
        code: Make and model as ``BRAND__MODEL``, such as FIAT__500; a booking takes another code.
    """

    code: Identifier


class Vehicle(Input):
    """The vehicle of a booking. Interface: Booking-creation inputs.

    Attributes:
        code: Code of the vehicle's type, such as CAR, as `catalogue.vehicle_types` lists them;
            not the ``BRAND__MODEL`` of a search.
        vehicule_code: The provider's vehicle code (the wire's spelling).
        brand: The make, in words.
        model: The model, in words.
        identification: Registration plate.
    """

    code: Identifier
    vehicule_code: _Name | None = None
    brand: _Name | None = None
    model: _Name | None = None
    identification: _Name | None = Field(default=None, repr=False)


class Contact(Input):
    """Whom the carrier reaches about the booking. Interface: Booking-creation inputs.

    Attributes:
        name: The person's full name.
        email: The person's address.
        prefix: Dialling prefix, such as ``+33``.
        phone: The number without the prefix.
    """

    name: _Name = Field(repr=False)
    email: _Name = Field(repr=False)
    prefix: _Name | None = Field(default=None, repr=False)
    phone: _Name | None = Field(default=None, repr=False)


class SearchPassengerDict(TypedDict, total=False):
    """The shape of `SearchPassenger` as a dict."""

    type: Required[PassengerTypeName]
    gender: Required[GenderName]
    age: Required[int]
    order: int
    param: PassengerParam


class PassengerDict(TypedDict, total=False):
    """The shape of `Passenger` as a dict."""

    type: Required[PassengerTypeName]
    first_name: Required[str]
    last_name: Required[str]
    gender: GenderName
    age: int
    birth_date: date | str
    nationality: str
    doc_type: str
    doc_number: str
    doc_expiration: date | str
    email: str
    order: int


class SelectionDict(TypedDict, total=False):
    """The shape of `Selection` as a dict."""

    availability_id: Required[str]
    tariff_id: Required[str]
    place_id: Required[str]
    expiration_date: datetime
    company: str
    roundtrip_locked: bool


class VehicleQueryDict(TypedDict):
    """The shape of `VehicleQuery` as a dict."""

    code: str


class VehicleDict(TypedDict, total=False):
    """The shape of `Vehicle` as a dict."""

    code: Required[str]
    vehicule_code: str
    brand: str
    model: str
    identification: str


class ContactDict(TypedDict, total=False):
    """The shape of `Contact` as a dict."""

    name: Required[str]
    email: Required[str]
    prefix: str
    phone: str

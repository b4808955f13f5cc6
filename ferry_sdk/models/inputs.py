"""Input models, and typed dicts of the same shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    LiteralString,
    Required,
    Self,
    TypeVar,
    cast,
)

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError
from typing_extensions import TypedDict, Unpack

from ferry_sdk._runtime.clock import Date
from ferry_sdk._runtime.money import exact_amount
from ferry_sdk._runtime.values import is_a, is_iterable
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import (
    Currency,
    DeferredModel,
    Identifier,
    Money,
    invalid,
    path_of,
)
from ferry_sdk.models.enums import Gender, PassengerType

_TYPES: Final[Mapping[str, PassengerType]] = {
    "ADULT": PassengerType.ADULT,
    "ADT": PassengerType.ADULT,
    "A": PassengerType.ADULT,
    "CHILD": PassengerType.CHILD,
    "CHD": PassengerType.CHILD,
    "C": PassengerType.CHILD,
    "INFANT": PassengerType.INFANT,
    "INF": PassengerType.INFANT,
    "I": PassengerType.INFANT,
}
_GENDERS: Final[Mapping[str, Gender]] = {
    "MALE": Gender.MALE,
    "M": Gender.MALE,
    "FEMALE": Gender.FEMALE,
    "F": Gender.FEMALE,
}


def _parser(members: Mapping[str, object], expected: LiteralString) -> BeforeValidator:
    """Return a validator that takes the names of enumeration members in any case."""

    def parse(value: object) -> object:
        member = members.get(value.upper()) if isinstance(value, str) else None
        if member is None:
            raise invalid(f"expected {expected}")
        return member

    return BeforeValidator(parse)


_PassengerType = Annotated[PassengerType, _parser(_TYPES, "Adult, Child or Infant")]
_Gender = Annotated[Gender, _parser(_GENDERS, "Male or Female")]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Age = Annotated[int, Field(ge=0, le=130)]
_Order = Annotated[int, Field(ge=1)]
_Country = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2}$", to_upper=True)]
_Day = Annotated[Date, PlainSerializer(date.isoformat, return_type=str)]

PassengerTypeName = Literal["Adult", "Child", "Infant"]
PassengerParam = Literal["A", "C", "I"]
GenderName = Literal["Male", "Female", "M", "F"]


def _no_date_in(value: object) -> str:
    """Return the field of a dict whose value is a date by its class, and is none."""
    fields: Mapping[str, object] = {}
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
    for name, day in fields.items():
        is_date = isinstance(day, date)
        if is_date and not is_a(day, date):
            return name
    return ""


def _reject_missing_date(model: type[BaseModel], value: object) -> None:
    """Raise the error of a date that is none; pydantic raises a TypeError without its field.

    A validator of dates would make every booking dearer.

    Raises:
        ValidationError: A value of the dict is a date by its class, and is none.
    """
    field = _no_date_in(value)
    if field:
        problem = InitErrorDetails(type=invalid("expected a date"), loc=(field,), input=None)
        error = ValidationError.from_exception_data(model.__name__, [problem], hide_input=True)
        raise error from None


class Input(DeferredModel):
    """An input model. Unknown fields are rejected; errors do not contain values."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    if not TYPE_CHECKING:  # type checkers make the signature from the fields

        def __init__(self, /, **values: Any) -> None:  # noqa: ANN401 -- of any class
            try:
                super().__init__(**values)
            except TypeError:
                _reject_missing_date(type(self), values)
                raise

        # Without this mark, pydantic would also call it for every dict that it validates.
        __init__.__pydantic_base_init__ = True

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:  # noqa: ANN401 -- those of pydantic
        """Validate a model or a dict; see pydantic."""
        try:
            return super().model_validate(obj, **options)
        except TypeError:
            _reject_missing_date(cls, obj)
            raise


InputT = TypeVar("InputT", bound=Input)


class SearchPassenger(Input):
    """One traveller of a search. Interface: Search passenger.

    Codes such as ADT or A, and M or F, are also accepted.

    Attributes:
        type: Adult, Child or Infant.
        gender: Male or Female.
        age: True age in years on the day of travel; age bands differ by company.
        order: Number in the party, from 1; by default the position in the list.
        param: The letter of the type: A, C or I; derived from the type by default.
    """

    type: _PassengerType
    gender: _Gender
    age: _Age
    order: _Order | None = None
    param: PassengerParam | None = None

    @field_validator("param", mode="after")
    @classmethod
    def _check_param(
        cls, param: PassengerParam | None, info: ValidationInfo
    ) -> PassengerParam | None:
        kind = info.data.get("type")  # None: the type is invalid, which is reported already
        if param is not None and kind is not None and param != kind.value[0]:
            expected = {"letter": kind.value[0], "type": kind.value}
            raise PydanticCustomError("value_error", "expected {letter} for {type}", expected)
        return param


class Traveller(Input):
    """One traveller of a search and of its booking. Interface: Booking-creation inputs.

    A search requires the gender, and a birth date or an age. A booking requires both names. The
    age and the type on the wire are those of the day of the first sailing.

    Attributes:
        type: Adult, Child or Infant; None: the type of the age, as `Travellers.bands` has it.
        first_name: All given names, as on the travel document.
        last_name: The family name, as on the travel document.
        gender: Male or Female.
        age: Age in years on the day of travel; not needed with a birth date.
        birth_date: A date, or a text as YYYY-MM-DD.
        nationality: Two-letter country code.
        doc_type: Kind of travel document, such as Passport.
        doc_number: Number of the travel document.
        doc_expiration: A date, or a text as YYYY-MM-DD.
        email: The traveller's e-mail address.
        order: Number in the party, from 1; by default the position in the list.
    """

    type: _PassengerType | None = None
    first_name: _Name | None = Field(default=None, repr=False)
    last_name: _Name | None = Field(default=None, repr=False)
    gender: _Gender | None = Field(default=None, repr=False)
    age: _Age | None = Field(default=None, repr=False)
    birth_date: _Day | None = Field(default=None, repr=False)
    nationality: _Country | None = Field(default=None, repr=False)
    doc_type: _Name | None = Field(default=None, repr=False)
    doc_number: _Name | None = Field(default=None, repr=False)
    doc_expiration: _Day | None = Field(default=None, repr=False)
    email: _Name | None = Field(default=None, repr=False)
    order: _Order | None = None

    if TYPE_CHECKING:  # every text that is accepted, not only the members of the enumerations

        def __init__(self, **values: Unpack[TravellerDict]) -> None: ...


class Passenger(Traveller):
    """One traveller of a booking. Interface: Booking-creation inputs.

    Names must match the travel document. Only the type and the two names are required; fields
    that are None are not sent. MCP sends the type as ADT, CHD or INF; the gender is sent as M or F.
    The other fields are those of `Traveller`.

    Attributes:
        type: Adult, Child or Infant.
        first_name: All given names.
        last_name: The family name.
        age: Age in years on the day of travel.
    """

    # Frozen fields may have a stricter type.
    type: _PassengerType = Field()  # pyright: ignore[reportIncompatibleVariableOverride] -- frozen
    first_name: _Name = Field(repr=False)  # pyright: ignore[reportIncompatibleVariableOverride] -- frozen
    last_name: _Name = Field(repr=False)  # pyright: ignore[reportIncompatibleVariableOverride] -- frozen


class Selection(Input):
    """An availability with the tariff and the place chosen. Interface: Booking-creation inputs.

    The fields beyond the three ids come from `Availability.select`. A booking is checked by them
    before it is sent; they are not sent. ``model_dump`` and ``model_dump_json`` contain them, so a
    stored selection can be validated and booked later.

    Attributes:
        availability_id: The id of an availability.
        tariff_id: The id of one of its tariffs.
        place_id: The id of one of its places.
        amount: Price of the tariff, in `currency`; a better place costs more.
        currency: ISO 4217, upper case.
        expiration_date: End of the tariff's validity.
        company: The ferry company's id.
        roundtrip_locked: The tariff is valid only as a round trip with the same company.
        reservation_type: PRESALE or OPTION if the tariff is one; a booking without a type of its
            own has this one.
        depart_at: Departure with the offset of the port; the travellers are checked on that day.
        depart_code: Code of the departure port.
        arrive_code: Code of the arrival port.
    """

    availability_id: Identifier
    tariff_id: Identifier
    place_id: Identifier
    amount: Money | None = None
    currency: Currency | None = None
    expiration_date: AwareDatetime | None = None
    company: Identifier | None = None
    roundtrip_locked: bool = False
    reservation_type: Identifier | None = None
    depart_at: AwareDatetime | None = None
    depart_code: Identifier | None = None
    arrive_code: Identifier | None = None

    @field_serializer("amount", when_used="json-unless-none")
    def _write_amount(self, amount: Decimal) -> str | None:
        return exact_amount(amount, self.currency or "")


class VehicleQuery(Input):
    """The vehicle of a search, which takes no length. Interface: Booking flow.

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
        brand: Name of the make.
        model: Name of the model.
        identification: Registration plate.
    """

    code: Identifier
    vehicule_code: _Name | None = None
    brand: _Name | None = None
    model: _Name | None = None
    identification: _Name | None = Field(default=None, repr=False)


class Contact(Input):
    """The contact person of a booking. Interface: Booking-creation inputs.

    Attributes:
        name: The person's full name.
        email: The person's e-mail address.
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


class _PersonDict(TypedDict, total=False):
    gender: Gender | GenderName | None
    age: int | None
    birth_date: date | str | None
    nationality: str | None
    doc_type: str | None
    doc_number: str | None
    doc_expiration: date | str | None
    email: str | None
    order: int | None


class PassengerDict(_PersonDict, total=False):
    """The shape of `Passenger` as a dict."""

    type: Required[PassengerType | PassengerTypeName]
    first_name: Required[str]
    last_name: Required[str]


class TravellerDict(_PersonDict, total=False):
    """The shape of `Traveller` as a dict, for `Travellers`."""

    type: PassengerType | PassengerTypeName | None
    first_name: str | None
    last_name: str | None


class SelectionDict(TypedDict, total=False):
    """The shape of `Selection` as a dict."""

    availability_id: Required[str]
    tariff_id: Required[str]
    place_id: Required[str]
    amount: Decimal | int | str | None
    currency: str | None
    expiration_date: datetime | str | None
    company: str | None
    roundtrip_locked: bool
    reservation_type: str | None
    depart_at: datetime | str | None
    depart_code: str | None
    arrive_code: str | None


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


_SOURCES: Final[Mapping[type[Input], str]] = {
    Selection: "; pass what select() of a trip or a sailing returns",
    VehicleQuery: ", such as vehicles.find('golf')[0].query",
    Vehicle: ", such as vehicles.find('golf')[0].booking()",
}
"""Where an input comes from, for the errors of other values."""


def parse_input(
    model: type[InputT], value: object, argument: str, index: int | None = None
) -> InputT:
    """Validate an input, a model or a dict.

    Raises:
        InvalidInputError: It is invalid; `field` names the argument and the field.
    """
    try:
        checked: InputT = model.__pydantic_validator__.validate_python(value)
    except ValidationError as error:
        where, problem = path_of(error)
    except TypeError:  # what pydantic raises for `NaT`
        where, problem = _no_date_in(value), "expected a date"
    else:
        return checked

    # The error is raised below `except`: its context would be pydantic's error, with the values.
    if not where and not isinstance(value, Mapping):
        problem = f"expected a {model.__name__}{_SOURCES.get(model, ' or a dict')}"
    path = argument if index is None else f"{argument}[{index}]"
    if where:
        path = f"{path}.{where}"
    raise InvalidInputError(problem, field=path)


def elements_of(
    values: object, argument: str, model: type[Input] | None = None, *, may_be_empty: bool = False
) -> Sequence[object]:
    """Return the elements of a list or another iterable."""
    if not isinstance(values, (list, tuple)):
        # Iterating over a model yields its fields.
        is_one = isinstance(values, str | bytes | Mapping | BaseModel)
        if is_one or not is_iterable(values):
            source = "" if model is None else _SOURCES[model]
            raise InvalidInputError(f"expected a list{source}", field=argument)
        values = tuple(values)
    if not values and not may_be_empty:
        raise InvalidInputError("expected at least one", field=argument)
    return values  # pyright: ignore[reportUnknownVariableType] -- from a caller

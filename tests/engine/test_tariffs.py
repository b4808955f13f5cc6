"""A tariff that has expired, or is locked to another carrier, is not booked."""

import json
from datetime import timedelta
from email.utils import format_datetime

import pytest

from ferry_sdk import Availability, BookingCreated, InvalidInputError, NotFoundError
from tests.engine.replies import good, reply, scripted_driver
from tests.support.operations import described
from tests.support.samples import AVAILABILITY, BOOKING_CREATED, PLACE, TARIFF

CREATIONS = ("bookings.create", "mcp.create_booking")
every_creation = pytest.mark.parametrize("name", CREATIONS)
LASTING = TARIFF | {"roundtrip_locked": False, "expiration_date": 4_000_000_000}


def select(carrier="CTN", **tariff):
    company = {"id": carrier, "name": carrier, "logo": ""}
    changes = {"company": company, "tariffs": [LASTING | tariff]}
    sailing = Availability.model_validate(AVAILABILITY | changes)
    return sailing.select(tariff=sailing.tariffs[0].id, place=PLACE["id"])


def assert_expires(driver, name, moment, *, is_expired):
    """A booking on a tariff that expires at this moment is refused, or made."""
    driver.answer = good(BOOKING_CREATED)
    operation = described(name, availabilities=[select(expiration_date=moment)])
    if not is_expired:
        assert isinstance(driver.raw(operation).parse(), BookingCreated)
        return
    error = driver.error(InvalidInputError, operation)
    assert "expired" in str(error)
    assert (error.field, error.outcome) == ("availabilities[0]", "not_sent")


@every_creation
@pytest.mark.parametrize("ahead", [-3600, 0, 0.001, 3600])
def test_tariff_expires_at_its_moment(name, ahead):
    driver = scripted_driver()
    assert_expires(driver, name, driver.moment(ahead), is_expired=ahead <= 0)


@pytest.mark.parametrize("source", ["catalogue.ports", "mcp.ports"])
@pytest.mark.parametrize(
    ("skew", "left", "is_expired"),
    [(600, 300, True), (600, 900, False), (-600, -300, False), (-600, -900, True)],
)
def test_tariff_expires_by_the_services_clock(source, skew, left, is_expired):
    driver = scripted_driver()
    service_time = driver.moment(skew)
    driver.answer = lambda _: reply(404, date=format_datetime(service_time, usegmt=True))
    driver.error(NotFoundError, source)
    assert_expires(driver, CREATIONS[0], driver.moment(left), is_expired=is_expired)


def test_expired_tariff_of_several_is_named():
    driver = scripted_driver()
    selections = [select(expiration_date=driver.moment(ahead)) for ahead in (3599, -1)]
    error = driver.error(InvalidInputError, described("bookings.create", availabilities=selections))
    assert error.field == "availabilities[1]"


def locked_selections(*rows):
    return [select(carrier, roundtrip_locked=is_locked) for carrier, is_locked in rows]


@every_creation
@pytest.mark.parametrize(
    ("selections", "refused"),
    [
        pytest.param(locked_selections(("CTN", True), ("GNV", False)), 0, id="first is locked"),
        pytest.param(locked_selections(("CTN", False), ("GNV", True)), 1, id="second is locked"),
    ],
)
def test_locked_tariff_is_not_paired_with_another_company(name, selections, refused):
    with pytest.raises(InvalidInputError, match="same company") as info:
        described(name, availabilities=selections)
    assert info.value.field == f"availabilities[{refused}]"


@every_creation
@pytest.mark.parametrize(
    "selections",
    [
        pytest.param(locked_selections(("CTN", False), ("GNV", False)), id="none is locked"),
        pytest.param(locked_selections(("CTN", True), ("CTN", True)), id="one company"),
    ],
)
def test_other_tariffs_are_paired(name, selections):
    driver = scripted_driver(good(BOOKING_CREATED))
    assert driver.raw(described(name, availabilities=selections)).parse()


@every_creation
def test_only_ids_of_a_tariff_are_sent(name):
    selection = select(roundtrip_locked=True, type="Presale")
    operation = described(name, availabilities=[selection.model_dump(mode="json")])
    ids = {"availability_id": "av-1", "tariff_id": "tar-1", "place_id": "pl-1"}
    call = operation.call
    sent = call.body if name == "bookings.create" else call.params["arguments"]
    assert (sent["availabilities"], sent["reservation_type"]) == ([ids], "PRESALE")
    identity = json.loads(operation.write.canonical())
    assert identity["availabilities"] == [ids]  # what journals recognise it by


def skew_after(date):
    """Return the skew of a session, 12 s before, after a reply with a date or without one."""
    headers = {} if date is None else {"date": date}
    driver = scripted_driver(reply(404, **headers))
    driver.session.skew = 12.0
    driver.error(NotFoundError, "catalogue.ports")
    return driver.session.skew


@pytest.mark.parametrize("zone", ["08:16:40 GMT", "10:16:40 +0200", "08:16:40 -0000"])
def test_date_tells_the_services_clock(zone):
    assert skew_after(f"Fri, 15 Jan 2027 {zone}") == -0.25


@pytest.mark.parametrize(
    "date",
    [
        "",
        "yesterday",
        "Wed, 31 Feb 2027 08:00:00 GMT",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        None,
    ],
)
def test_invalid_date_tells_nothing(date):
    assert skew_after(date) == 12.0


@pytest.mark.parametrize("date", ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"])
@every_creation
def test_date_beyond_reason_breaks_nothing(name, date):
    driver = scripted_driver(reply(404, date=date), good(BOOKING_CREATED))
    driver.error(NotFoundError, "catalogue.ports")
    driver.now += 100
    assert driver.raw(name).parse()
    moment = driver.moment(0) + timedelta(days=1)
    assert_expires(driver, name, moment, is_expired="9999" in date)

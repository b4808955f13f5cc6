"""A tariff that has expired, or is locked to another carrier, is not booked."""

import json
from datetime import timedelta
from email.utils import format_datetime

import pytest

from ferry_sdk import Availability, BookingCreated, InvalidInputError, NotFoundError
from tests.engine.replies import good, reply, scripted_driver
from tests.support.cases import case
from tests.support.operations import described
from tests.support.samples import AVAILABILITY, BOOKING_CREATED, PLACE, TARIFF
from tests.support.tables import each

CREATIONS = ("bookings.create", "mcp.create_booking")
every_creation = each("name", CREATIONS)
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
def test_a_tariff_expires_at_its_moment_and_a_locked_one_is_not_paired_and_only_ids_are_sent(name):
    for ahead in (-3600, 0, 0.001, 3600):
        driver = scripted_driver()
        assert_expires(driver, name, driver.moment(ahead), is_expired=ahead <= 0)
    for carriers, locked, refused in (
        *(("CTN GNV", (True, False), 0), ("CTN GNV", (False, True), 1)),
        *(("CTN GNV", (False, False), None), ("CTN CTN", (True, True), None)),
    ):
        pairs = zip(carriers.split(), locked, strict=True)
        selections = [select(carrier, roundtrip_locked=is_locked) for carrier, is_locked in pairs]
        if refused is None:
            driver = scripted_driver(good(BOOKING_CREATED))
            assert driver.raw(described(name, availabilities=selections)).parse()
            continue
        with case(locked), pytest.raises(InvalidInputError, match="same company") as info:
            described(name, availabilities=selections)
        assert info.value.field == f"availabilities[{refused}]"
    one = select(roundtrip_locked=True, type="Presale")
    operation = described(name, availabilities=[one.model_dump(mode="json")])
    ids = {"availability_id": "av-1", "tariff_id": "tar-1", "place_id": "pl-1"}
    call = operation.call
    sent = call.body if name == "bookings.create" else call.params["arguments"]
    assert (sent["availabilities"], sent["reservation_type"]) == ([ids], "PRESALE")
    identity = json.loads(operation.write.canonical())
    assert identity["availabilities"] == [ids]  # what journals recognise it by


@each(
    ("skew", "left", "is_expired"),
    [(600, 300, True), (600, 900, False), (-600, -300, False), (-600, -900, True)],
)
@each("heard_by", ["catalogue.ports", "mcp.ports"])
def test_a_tariff_expires_by_the_services_clock(heard_by, skew, left, is_expired):
    driver = scripted_driver()
    there = driver.moment(skew)
    driver.answer = lambda _: reply(404, date=format_datetime(there, usegmt=True))
    driver.error(NotFoundError, heard_by)
    assert_expires(driver, CREATIONS[0], driver.moment(left), is_expired=is_expired)


def test_a_date_tells_the_services_clock_and_the_expired_one_of_several_is_named():
    offsets = ("08:16:40 GMT", "10:16:40 +0200", "08:16:40 -0000")
    known = [f"Fri, 15 Jan 2027 {offset}" for offset in offsets]
    unknown = ("", "yesterday", "Wed, 31 Feb 2027 08:00:00 GMT")
    for date in (*known, *unknown, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None):
        driver = scripted_driver(reply(404, **({} if date is None else {"date": date})))
        driver.session.skew = 12.0
        driver.error(NotFoundError, "catalogue.ports")
        assert (date, driver.session.skew) == (date, -0.25 if date in known else 12.0)
    driver = scripted_driver()
    selections = [select(expiration_date=driver.moment(ahead)) for ahead in (3599, -1)]
    error = driver.error(InvalidInputError, described("bookings.create", availabilities=selections))
    assert error.field == "availabilities[1]"


@each("date", ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"])
@every_creation
def test_a_date_beyond_reason_breaks_nothing(name, date):
    driver = scripted_driver(reply(404, date=date), good(BOOKING_CREATED))
    driver.error(NotFoundError, "catalogue.ports")
    driver.now += 100
    assert driver.raw(name).parse()
    moment = driver.moment(0) + timedelta(days=1)
    assert_expires(driver, name, moment, is_expired="9999" in date)

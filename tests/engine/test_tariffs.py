"""A tariff that has expired, or is locked to another carrier, is not booked."""

import json
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from itertools import product

import pytest

from ferry_sdk import Availability, BookingCreated, InvalidInputError, NotFoundError
from tests.engine.replies import good, reply, scripted_driver
from tests.support.operations import described
from tests.support.samples import AVAILABILITY, BOOKING_CREATED, PLACE, TARIFF
from tests.support.tables import each

CREATIONS = ("bookings.create", "mcp.create_booking")
LASTING = TARIFF | {"roundtrip_locked": False, "expiration_date": 4_000_000_000}


def create_with(**changes):
    """A selection as `Availability.select` makes it."""
    tariff = LASTING | changes.pop("tariff", {})
    sailing = Availability.model_validate(AVAILABILITY | changes | {"tariffs": [tariff]})
    return sailing.select(tariff=sailing.tariffs[0].id, place=PLACE["id"])


def company(name):
    return {"id": name, "name": name, "logo": ""}


def test_a_tariff_expires_at_its_moment():
    for ahead, is_expired in ((-3600, True), (0, True), (0.001, False), (3600, False)):
        moment = datetime.fromtimestamp(scripted_driver().calendar() + ahead, timezone.utc)
        for name in CREATIONS:
            operation = described(
                name, availabilities=[create_with(tariff={"expiration_date": moment})]
            )
            if is_expired:
                with pytest.raises(InvalidInputError, match="expired") as info:
                    scripted_driver().raw(operation)
                assert info.value.field == "availabilities[0]"
                assert info.value.outcome == "not_sent"
            else:
                answer = scripted_driver(good(BOOKING_CREATED)).raw(operation).parse()
                assert isinstance(answer, BookingCreated)


@each(
    ("skew", "left", "is_expired"),
    [(600, 300, True), (600, 900, False), (-600, -300, False), (-600, -900, True)],
)
@each("heard_by", ["catalogue.ports", "mcp.ports"])
def test_a_tariff_expires_by_the_services_clock(heard_by, skew, left, is_expired):
    driver = scripted_driver(then=good(BOOKING_CREATED))
    there = datetime.fromtimestamp(driver.calendar() + skew, timezone.utc)
    driver.answer = lambda _: reply(404, date=format_datetime(there, usegmt=True))
    driver.error(NotFoundError, described(heard_by))
    moment = datetime.fromtimestamp(driver.calendar() + left, timezone.utc)
    driver.answer = good(BOOKING_CREATED)
    operation = described(
        "bookings.create", availabilities=[create_with(tariff={"expiration_date": moment})]
    )
    if is_expired:
        with pytest.raises(InvalidInputError, match="expired"):
            driver.raw(operation)
    else:
        assert driver.raw(operation).parse()


@each(
    ("date", "skew"),
    [
        *product(
            [
                "Fri, 15 Jan 2027 08:16:40 GMT",
                "Fri, 15 Jan 2027 10:16:40 +0200",
                "Fri, 15 Jan 2027 08:16:40 -0000",
            ],
            [-0.25],
        ),
        *product(
            [
                *(None, "", "yesterday", "Wed, 31 Feb 2027 08:00:00 GMT"),
                "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
            ],
            [12.0],
        ),
    ],
)
def test_a_date_tells_the_services_clock_if_it_can_be_read(date, skew):
    driver = scripted_driver(reply(404, **({} if date is None else {"date": date})))
    driver.session.skew = 12.0
    driver.error(NotFoundError, "catalogue.ports")
    assert driver.session.skew == skew


@each("date", ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"])
@each("name", CREATIONS)
def test_a_date_beyond_reason_breaks_nothing(name, date):
    driver = scripted_driver(
        reply(404, date=date), good(BOOKING_CREATED), then=good(BOOKING_CREATED)
    )
    driver.error(NotFoundError, "catalogue.ports")
    driver.now += 100
    assert driver.raw(name).parse()
    moment = datetime.fromtimestamp(driver.calendar(), timezone.utc) + timedelta(days=1)
    driver.session.update_clock_skew(date, driver.calendar())
    operation = described(name, availabilities=[create_with(tariff={"expiration_date": moment})])
    if "9999" in date:
        with pytest.raises(InvalidInputError, match="expired"):
            driver.raw(operation)
    else:
        assert driver.raw(operation).parse()


def test_the_expired_one_of_several_is_named():
    driver = scripted_driver()
    past = datetime.fromtimestamp(driver.calendar() - 1, timezone.utc)
    later = past + timedelta(hours=1)
    selections = [create_with(tariff={"expiration_date": moment}) for moment in (later, past)]
    error = driver.error(InvalidInputError, described("bookings.create", availabilities=selections))
    assert error.field == "availabilities[1]"


@each("name", CREATIONS)
@each(
    ("carriers", "locked", "refused"),
    [
        ("CTN GNV", (True, False), 0),
        ("CTN GNV", (False, True), 1),
        ("CTN GNV", (False, False), None),
        ("CTN CTN", (True, True), None),
    ],
)
def test_a_locked_tariff_is_not_paired_with_another_carrier(name, carriers, locked, refused):
    selections = [
        create_with(company=company(carrier), tariff={"roundtrip_locked": is_locked})
        for carrier, is_locked in zip(carriers.split(), locked, strict=True)
    ]
    if refused is None:
        driver = scripted_driver(good(BOOKING_CREATED))
        assert driver.raw(described(name, availabilities=selections)).parse()
        return
    with pytest.raises(InvalidInputError, match="same company") as info:
        described(name, availabilities=selections)
    assert info.value.field == f"availabilities[{refused}]"


@each("name", CREATIONS)
def test_what_a_selection_knows_beyond_its_ids_is_not_sent(name):
    one = create_with(tariff={"roundtrip_locked": True, "type": "Presale"})
    operation = described(name, availabilities=[one.model_dump(mode="json")])
    ids = {"availability_id": "av-1", "tariff_id": "tar-1", "place_id": "pl-1"}
    call = operation.call
    sent = call.body if name == "bookings.create" else call.params["arguments"]
    assert sent["availabilities"] == [ids]
    assert sent["reservation_type"] == "PRESALE"
    assert operation.write is not None
    identity = json.loads(operation.write.canonical())
    assert identity["availabilities"] == [ids]  # what journals recognise it by

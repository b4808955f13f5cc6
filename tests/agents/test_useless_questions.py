"""What would be refused after a person has agreed is refused before they are asked."""

from ferry_sdk import Traveller
from tests.agents.agent import PASSENGERS, TRAVELLERS, error, order, query
from tests.support.tables import each
from tests.support.trip import DAY

ADULT = TRAVELLERS[0]
CHILD = {"type": "Child", "gender": "Male", "age": 7}
INFANT = {"type": "Infant", "gender": "Male", "age": 0}
ADA = PASSENGERS[0]
LEO = {"type": "Child", "first_name": "Leo", "last_name": "Okonkwo"}
YEAR = DAY.year


@each(
    ("searched", "booked", "field", "problem"),
    [
        ([ADULT], [{**ADA, "birth_date": f"{YEAR + 1}-01-01"}], "0.birth_date", "day of travel"),
        ([ADULT], [{**ADA, "age": 40, "birth_date": f"{YEAR - 9}-01-01"}], "0.age", "birth date"),
        ([ADULT], [{**ADA, "birth_date": f"{YEAR - 2}-01-01"}], "0.type", "not that of an Adult"),
        ([ADULT], [{**ADA, "doc_expiration": f"{YEAR - 1}-12-31"}], "0.doc_expiration", "expires"),
        ([ADULT], [{**ADA, "doc_number": "XK447"}], "0.doc_type", "a kind and a number"),
        ([ADULT], [{**ADA, "doc_type": "Passport"}], "0.doc_number", "a kind and a number"),
        ([ADULT, ADULT], [ADA, ADA], "1.last_name", "the same as of traveller 0"),
        ([ADULT, ADULT], [ADA, LEO], None, "2 travellers (2 Adult)"),
        ([ADULT, CHILD], [ADA], None, "1 traveller (1 Adult)"),
        ([ADULT, CHILD], [ADA, {**LEO, "type": "Infant"}], None, "(1 Adult, 1 Child)"),
    ],
)
def test_a_party_that_cannot_travel_is_refused_unasked(
    toolkit, sending_nothing, asked, searched, booked, field, problem
):
    sailing = toolkit.sailings(passengers=searched)[0]
    with sending_nothing():
        answer = toolkit.call("bookings_create", order(sailing, passengers=booked))
    code = "party_changed" if field is None else "invalid_arguments"
    refused = error(answer, code)
    assert refused["field"] == ("passengers" if field is None else f"passengers.{field}")
    assert problem in refused["message"]
    assert asked == []


def test_a_handle_is_named_for_its_traveller(toolkit_of, agree, sending_nothing, asked):
    document = {"doc_type": "Passport", "doc_number": "X1", "doc_expiration": f"{YEAR - 1}-12-31"}
    late = Traveller(first_name="Ada", last_name="Reyes", gender="Female", age=34, **document)
    toolkit = toolkit_of(writes=True, approve=agree, travellers={"t1": late})
    search = {name: one for name, one in query().items() if name != "passengers"}
    found = toolkit.call("availability_search", {**search, "travellers": ["t1"]})
    wanted = order(found["result"]["items"][0])
    del wanted["passengers"]
    with sending_nothing():
        answer = toolkit.call("bookings_create", {**wanted, "travellers": ["t1"]})
    refused = error(answer, "invalid_arguments")
    assert refused["field"] == "travellers.0.doc_expiration"
    assert "passengers" not in refused["message"]
    assert asked == []


def test_sailings_that_do_not_fit_are_refused_unasked(toolkit, sending_nothing, asked):
    first, second = toolkit.sailings()[:2]
    out, _ = toolkit.round_trip()
    (locked, *_) = [tariff for tariff in out["tariffs"] if tariff["roundtrip_locked"]]
    alone = order(out)
    alone["availabilities"][0]["tariff_id"] = locked["id"]
    with sending_nothing():
        two = toolkit.fail("bookings_create", "invalid_arguments", **order(first, second))
        one = toolkit.fail("bookings_create", "invalid_arguments", **alone)
    assert (two["field"], one["field"]) == ("availabilities", "availabilities.0.tariff_id")
    assert asked == []

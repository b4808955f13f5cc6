"""Records as frames: the rows, the columns and their dtypes."""

import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from ferry_sdk import Availability, InvalidInputError, Port, Records, ScheduledDeparture
from tests.support import samples
from tests.support.processes import run
from tests.support.summer import search, stopped

SOLD_ALONE = {**samples.TARIFF, "roundtrip_locked": False}
PRESALE = {**SOLD_ALONE, "id": "tar-2", "type": "Presale", "amount": 9.5}


def sailing(**changes):
    wire = {**samples.AVAILABILITY, "tariffs": [SOLD_ALONE, PRESALE], **changes}
    return Availability.model_validate(wire)


LATE = datetime(2026, 7, 1, 8, tzinfo=timezone(timedelta(hours=2)))
MOMENTS = ("2026-07-13T20:20+02:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00")


def departures(*moments):
    return Records([ScheduledDeparture(depart_at=moment) for moment in moments])


DTYPES = {
    "id": "string",
    "group_id": "int64",
    "is_open": "bool",
    "direction": "category",
    "depart_at": "datetime64[us, UTC]",
    "depart_local": "datetime64[us]",
    "travel_time": "timedelta64[us]",
    "company_name": "string",
    "lowest_currency": "string",
    "tariffs": "int64",
    "places": "int64",
    "lowest_amount": "object",
    "stops": "object",
    "animals": "object",
}


def test_the_columns_of_sailings():
    records = Records([sailing(seen_never_before="x", places=[samples.PLACE]), sailing(id="av-2")])
    frame = records.to_frame()
    assert len(frame) == 2
    assert DTYPES.items() <= {name: str(dtype) for name, dtype in frame.dtypes.items()}.items()
    assert not set(frame) & {"company", "model_extra", "in_board", "seen_never_before"}


@pytest.fixture(scope="module", name="pd")
def load_pandas():
    """Pandas, which not every worker of the tests has to load."""
    import pandas as pd

    return pd


def test_a_row_has_the_moments_of_its_sailing(pd):
    row = Records([sailing()]).to_frame().iloc[0]
    assert row["depart_at"] == pd.Timestamp("2026-07-13T18:20:00Z")
    assert row["depart_local"] == pd.Timestamp("2026-07-13T20:20:00")
    assert row["arrive_local"] == pd.Timestamp("2026-07-14T16:20:00")
    assert row["travel_time"] == timedelta(hours=21)


@pytest.mark.parametrize(
    "records",
    [
        Records([sailing(depart_at=moment) for moment in MOMENTS[:2]]),
        Records([ScheduledDeparture.model_validate({"depart_at": moment}) for moment in MOMENTS]),
    ],
    ids=["sailings", "departures"],
)
def test_the_first_and_last_moments_have_a_dtype(records):
    assert str(records.to_frame()["depart_at"].dtype) == "datetime64[us, UTC]"


@pytest.fixture
def one_ticket():
    """A sailing without a ticket, and one with a ticket."""
    return Records([sailing(tariffs=[PRESALE]), sailing()])


def test_amounts_are_exact(one_ticket):
    assert one_ticket.to_frame()["lowest_amount"][1] == Decimal("148.18")


def test_amounts_may_be_floats(one_ticket):
    frame = one_ticket.to_frame(money="float")
    assert str(frame["lowest_amount"].dtype) == "float64"
    assert frame["lowest_amount"][1] == pytest.approx(148.18)


def test_a_sailing_without_a_ticket_has_no_price(one_ticket):
    frame = one_ticket.to_frame(money="float")
    assert frame["lowest_amount"].isna().tolist() == [True, False]
    assert frame["lowest_currency"].isna().tolist() == [True, False]


def test_a_row_may_be_a_tariff():
    frame = Records([sailing(), sailing(id="av-2", tariffs=[])]).to_frame(by="tariff")
    assert [*frame["id"]] == ["av-1", "av-1"]
    assert [*frame["tariff_type"]] == ["Ticket", "Presale"]
    assert [*frame["tariff_amount"]] == [Decimal("148.18"), Decimal("9.5")]
    assert str(frame["tariff_expiration_date"].dtype) == "datetime64[us, UTC]"
    assert str(frame["tariff_roundtrip_locked"].dtype) == "bool"


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (["text"], {}, "records: "),
        ([sailing(), timedelta(1)], {}, "records: "),
        ([Port(code="A", name="A", country="X")], {"by": "tariff"}, "by: .* have no tariffs"),
        ([], {"by": "sailing"}, r"by: expected \w+ or \w+"),
        ([], {"money": "Float"}, r"money: expected \w+ or \w+"),
        ([], {"money": None}, r"money: expected \w+ or \w+"),
    ],
)
def test_what_makes_no_frame_is_refused(values, options, words):
    with pytest.raises(InvalidInputError, match=f"^{words}"):
        Records(values).to_frame(**options)


@pytest.mark.parametrize("by", ["record", "tariff"])
def test_no_records_make_an_empty_frame(by):
    assert Records().to_frame(by=by).empty


def test_an_absent_moment_is_no_time(pd):
    frame = departures(LATE, None).to_frame()
    assert [*frame["depart_at"]] == [pd.Timestamp("2026-07-01T06:00Z"), pd.NaT]
    assert frame["journey_id"].isna().all()


def test_a_text_among_moments_is_kept():
    assert [*departures("21:30", LATE).to_frame()["depart_at"]] == ["21:30", LATE]


@pytest.mark.slow
def test_every_catalogue_makes_a_frame(ferry):
    for group, names in (
        (ferry.catalogue, ("ports", "journeys", "vehicle_brands", "vehicle_types")),
        (ferry.mcp, ("ports", "companies", "countries", "vehicle_data", "departures")),
    ):
        for name in names:
            records = getattr(group, name)()
            assert len(records.to_frame()) == len(records) > 0, name


def test_a_position_is_a_number(ferry):
    assert str(ferry.mcp.ports().to_frame()["latitude"].dtype) == "float64"


def test_a_search_makes_a_frame(ferry, ferry_sandbox):
    stopped(ferry_sandbox)
    sailings = ferry.availability.search(**search(back=True))
    assert len(sailings.to_frame()) == len(sailings) > 0


@pytest.fixture(scope="module")
def without_pandas():
    """What a program without pandas prints: a card, and the error of a frame."""
    program = """
import sys
for name in ("pandas", "matplotlib"):
    sys.modules[name] = None
from ferry_sdk import Port, Records
assert not [name for name in sys.modules if name.startswith("ferry_sdk.notebook")]
print(Records([Port(code="A", name="<b>", country="X")])._repr_html_())
try:
    Records().to_frame()
except ModuleNotFoundError as error:
    print(error)
"""
    return run([sys.executable, "-c", program]).stdout


def test_a_card_needs_no_pandas(without_pandas):
    assert "&lt;b&gt;" in without_pandas


def test_a_frame_without_pandas_names_its_extra(without_pandas):
    assert 'pip install "ferry-sdk[notebook]"' in without_pandas
    assert "pandas" in without_pandas

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


def test_a_row_a_sailing_or_a_tariff_and_what_makes_no_frame_is_refused():
    records = [sailing(seen_never_before="x", places=[samples.PLACE]), sailing(id="av-2")]
    frame = Records(records).to_frame()
    assert len(frame) == 2
    dtypes = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    expected = {
        "id": "string",
        "group_id": "int64",
        "is_open": "bool",
        "direction": "category",
        "depart_at": "datetime64[us, UTC]",
        "depart_local": "datetime64[us]",
        "travel_time": "timedelta64[us]",
        "company_name": "string",
        "lowest_currency": "string",
        **dict.fromkeys(("tariffs", "places"), "int64"),
        **dict.fromkeys(("lowest_amount", "stops", "animals"), "object"),
    }
    assert expected.items() <= dtypes.items()
    assert not set(frame) & {"company", "model_extra", "in_board", "seen_never_before"}
    import pandas as pd

    row = Records([sailing()]).to_frame().iloc[0]
    assert row["depart_at"] == pd.Timestamp("2026-07-13T18:20:00Z")
    assert row["depart_local"] == pd.Timestamp("2026-07-13T20:20:00")
    assert row["arrive_local"] == pd.Timestamp("2026-07-14T16:20:00")
    assert row["travel_time"] == timedelta(hours=21)
    moments = ["2026-07-13T20:20+02:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"]
    departures = [ScheduledDeparture.model_validate({"depart_at": one}) for one in moments]
    for records in ([sailing(depart_at=one) for one in moments[:2]], departures):
        assert str(Records(records).to_frame()["depart_at"].dtype) == "datetime64[us, UTC]"
    records = Records([sailing(tariffs=[PRESALE]), sailing()])
    assert records.to_frame()["lowest_amount"][1] == Decimal("148.18")
    frame = records.to_frame(money="float")
    assert str(frame["lowest_amount"].dtype) == "float64"
    assert frame["lowest_amount"][1] == pytest.approx(148.18)
    assert frame["lowest_amount"].isna().tolist() == [True, False]
    assert frame["lowest_currency"].isna().tolist() == [True, False]
    frame = Records([sailing(), sailing(id="av-2", tariffs=[])]).to_frame(by="tariff")
    assert [*frame["id"]] == ["av-1", "av-1"]
    assert [*frame["tariff_type"]] == ["Ticket", "Presale"]
    assert [*frame["tariff_amount"]] == [Decimal("148.18"), Decimal("9.5")]
    assert str(frame["tariff_expiration_date"].dtype) == "datetime64[us, UTC]"
    assert str(frame["tariff_roundtrip_locked"].dtype) == "bool"
    port = Port(code="A", name="A", country="X")
    for values, options, words in (
        (["text"], {}, "records: "),
        ([sailing(), timedelta(1)], {}, "records: "),
        ([port], {"by": "tariff"}, "by: .* have no tariffs"),
        ([], {"by": "sailing"}, r"by: expected \w+ or \w+"),
        *(([], {"money": kind}, r"money: expected \w+ or \w+") for kind in ("Float", None)),
    ):
        with pytest.raises(InvalidInputError, match=f"^{words}"):
            Records(values).to_frame(**options)
    assert Records().to_frame().empty
    assert Records().to_frame(by="tariff").empty
    late = datetime(2026, 7, 1, 8, tzinfo=timezone(timedelta(hours=2)))
    frame = Records([ScheduledDeparture(depart_at=late), ScheduledDeparture()]).to_frame()
    assert [*frame["depart_at"]] == [pd.Timestamp("2026-07-01T06:00Z"), pd.NaT]
    assert frame["journey_id"].isna().all()
    texts = Records([ScheduledDeparture(depart_at="21:30"), ScheduledDeparture(depart_at=late)])
    assert [*texts.to_frame()["depart_at"]] == ["21:30", late]


def test_every_catalogue_makes_a_frame(ferry, ferry_sandbox):
    stopped(ferry_sandbox)
    for group, names in (
        (ferry.catalogue, ("ports", "journeys", "vehicle_brands", "vehicle_types")),
        (ferry.mcp, ("ports", "companies", "countries", "vehicle_data", "departures")),
    ):
        for name in names:
            records = getattr(group, name)()
            assert len(records.to_frame()) == len(records) > 0, name
    assert str(ferry.mcp.ports().to_frame()["latitude"].dtype) == "float64"
    found = ferry.availability.search(**search(back=True))
    assert len(found.to_frame()) == len(found) > 0


def test_without_pandas_a_card_is_shown_and_a_frame_names_its_extra():
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
    done = run([sys.executable, "-c", program])
    assert "&lt;b&gt;" in done.stdout
    assert 'pip install "ferry-sdk[notebook]"' in done.stdout
    assert "pandas" in done.stdout

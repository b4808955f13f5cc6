"""A car is found by its name, with the codes for a search and for a booking."""

import pytest

from ferry_sdk import ServerError


def test_a_car_is_found_by_its_name(reader):
    golfs = ("golf", "Volkswagen Golf", "VOLKSWAGEN__GOLF", "VW Golf")
    codes = {"fiat 500": "FIAT__500", "Giullia": "ALFA_ROMEO__GIULIA"}
    codes |= dict.fromkeys(golfs, "VOLKSWAGEN__GOLF")
    assert {text: reader.vehicles.find(text)[0].model.code for text in codes} == codes
    assert reader.vehicles.find("xyzzyqq") == ()
    golf = reader.vehicles.find("golf", limit=1)[0]
    assert golf.query.code == "VOLKSWAGEN__GOLF"
    vehicle = golf.booking(identification="GE 123 AB")
    assert vehicle.code in {one.code for one in reader.catalogue.vehicle_types()}
    assert (vehicle.vehicule_code, vehicle.identification) == ("VOLKSWAGEN__GOLF", "GE 123 AB")


def test_the_catalogue_is_read_once(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "mcp.vehicle_data")
    with pytest.raises(ServerError):
        new_ferry.vehicles.find("golf")
    assert new_ferry.vehicles.find("golf")
    ferry_sandbox.faults.add("server_error", "*", times=None)
    assert new_ferry.vehicles.find("golf")

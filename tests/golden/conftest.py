"""Fixtures: the golden files of each version, in a world that stands still an hour later."""

import shutil
from datetime import timedelta

import pytest

from ferry_sdk.planning.catalogues import clear_cache
from tests.golden.files import FOLDER, versions
from tests.golden.world import MOMENT, client_of, new_service, standing_still
from tests.journal.conftest import postgres

__all__ = ["postgres"]


@pytest.fixture(autouse=True)
def _soon(same_qr_codes):
    clear_cache()
    with standing_still(MOMENT + timedelta(minutes=1)):
        yield
    clear_cache()


@pytest.fixture(params=versions())
def version(request):
    """A version that has golden files."""
    return request.param


@pytest.fixture
def folder(version, tmp_path):
    """A copy of the golden files of a version, which only this user can use."""
    copy = shutil.copytree(FOLDER / version, tmp_path / "golden")
    for path in copy.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
    return copy


@pytest.fixture
def newest():
    """The golden files of the newest version."""
    return FOLDER / versions()[-1]


@pytest.fixture
def service(folder):
    """A local service that starts with the state of a version."""
    with new_service(state=folder / "sandbox.db") as service:
        yield service


@pytest.fixture
def ferry(service):
    """A client of this service."""
    with client_of(service) as ferry:
        yield ferry

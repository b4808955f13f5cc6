"""What an order keeps of the error that ended a step."""

import pytest

from ferry_sdk import (
    ConflictError,
    InvalidInputError,
    OutcomeUnknownError,
    RequestDigest,
    UnexpectedResponseError,
)
from ferry_sdk.orders.progress import _describe

TEXT = "Zoë Núñez has no cabin"
DIGEST = RequestDigest("POST", "/api/booking", "0" * 64)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        pytest.param(
            ConflictError(TEXT, status_code=409, code="NO_CABIN"),
            "ConflictError, HTTP 409, NO_CABIN",
            id="code",
        ),
        pytest.param(
            ConflictError(TEXT, status_code=409, code=TEXT),
            "ConflictError, HTTP 409",
            id="words as a code",
        ),
        pytest.param(UnexpectedResponseError(TEXT), "UnexpectedResponseError", id="reply"),
        pytest.param(
            OutcomeUnknownError(TEXT, request=DIGEST), "OutcomeUnknownError", id="unknown outcome"
        ),
        pytest.param(
            InvalidInputError("above 90.00 EUR", field="max_total"),
            "max_total: above 90.00 EUR",
            id="guard",
        ),
    ],
)
def test_words_of_the_service_are_left_out(error, problem):
    assert _describe(error) == problem

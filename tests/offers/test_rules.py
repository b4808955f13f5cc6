"""Which answers a rule fires at."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import InvalidInputError
from ferry_sdk.offers import Below, Drop, Opens
from ferry_sdk.offers.verdicts import Answer, first_state, judge
from ferry_sdk.planning.trips import FoundSailing, one_way
from tests.offers.reference import fires
from tests.offers.virtual import Offered, Reply, search
from tests.support.tiers import examples

LOST = False


def reply(*prices, is_complete=True):
    return Reply(tuple(map(Offered, prices)), is_complete)


def verdicts(rule, replies):
    """Return the price before at each reply that the rule fires at, and None at each other."""
    state = first_state(rule)
    given_verdicts = []
    for each in replies:
        found = [
            one_way(FoundSailing(sailing, search().asked), "TICKET") for sailing in each.records()
        ]
        trips = sorted(found, key=lambda trip: (trip.price, trip.depart_at))
        verdict = judge(rule, state, Answer(tuple(trips), each.is_complete))
        state = verdict.state
        before = "none" if verdict.before is None else verdict.before
        given_verdicts.append(None if verdict.trip is None else before)
    return given_verdicts


def fired_at(rule, *replies):
    """Return the numbers of the replies that a rule fires at."""
    return [number for number, each in enumerate(verdicts(rule, replies)) if each is not None]


class TestBelow:
    RULE = Below("90", "EUR")

    def test_first_answer_fires(self):
        assert verdicts(self.RULE, [reply("90")]) == ["none"]

    def test_fires_once_until_the_price_was_above(self):
        assert fired_at(self.RULE, reply("80"), reply("85"), reply("91"), reply("90")) == [0, 3]

    def test_price_before_is_the_last_one_above(self):
        assert verdicts(self.RULE, [reply("99"), reply("95"), reply("90")])[2] == Decimal(95)

    def test_cheapest_trip_decides(self):
        assert fired_at(self.RULE, reply("120", "89.99")) == [0]

    def test_answer_without_a_trip_arms_nothing(self):
        assert fired_at(self.RULE, reply("80"), reply(), reply("80")) == [0]

    def test_other_currency_arms_nothing(self):
        other = Reply((Offered("200", "TND"),))
        assert fired_at(self.RULE, reply("80"), other, reply("80")) == [0]

    def test_other_currency_does_not_fire(self):
        assert fired_at(self.RULE, Reply((Offered("20", "TND"),))) == []

    def test_unreadable_answer_fires(self):
        assert fired_at(self.RULE, reply("80", is_complete=LOST)) == [0]

    def test_unreadable_answer_arms_nothing(self):
        assert fired_at(self.RULE, reply("80"), reply("99", is_complete=LOST), reply("80")) == [0]


class TestDrop:
    def test_first_answer_arms(self):
        assert fired_at(Drop(percent=10), reply("100"), reply("90")) == [1]

    def test_drop_is_of_the_highest_price(self):
        course = [reply("100"), reply("120"), reply("111"), reply("108")]
        assert verdicts(Drop(percent=10), course) == [None, None, None, Decimal(120)]

    def test_next_drop_is_of_the_price_it_fired_at(self):
        course = [reply("100"), reply("90"), reply("82"), reply("81")]
        assert fired_at(Drop(percent=10), *course) == [1, 3]

    def test_amount_is_compared_in_its_currency(self):
        other = Reply((Offered("10", "TND"),))
        assert fired_at(Drop(amount=5, currency="EUR"), reply("100"), other, reply("95")) == [2]

    def test_amount_may_be_below_one(self):
        assert fired_at(Drop(amount="0.50", currency="EUR"), reply("100"), reply("99.50")) == [1]

    def test_percentage_has_the_first_currency(self):
        other = Reply((Offered("10", "TND"),))
        assert fired_at(Drop(percent=10), reply("100"), other, reply("90")) == [2]

    def test_unreadable_answer_raises_no_highest_price(self):
        course = [reply("100"), reply("200", is_complete=LOST), reply("95")]
        assert fired_at(Drop(percent=10), *course) == []

    def test_unreadable_answer_fires(self):
        assert fired_at(Drop(percent=10), reply("100"), reply("90", is_complete=LOST)) == [1]


class TestOpens:
    CABIN = Reply((Offered("80", places=("Seat", "Cabin")),))
    SEAT = Reply((Offered("80"),))

    def test_trip_after_none_fires(self):
        assert fired_at(Opens(), reply(), reply("80")) == [1]

    def test_first_trip_does_not_fire(self):
        assert fired_at(Opens(), reply("80"), reply("80")) == []

    def test_place_that_opens_fires(self):
        assert fired_at(Opens("Cabin"), self.SEAT, self.CABIN) == [1]

    def test_place_is_named_in_any_case(self):
        assert fired_at(Opens("cabin"), self.SEAT, self.CABIN) == [1]

    def test_fires_again_after_an_answer_without(self):
        course = [self.SEAT, self.CABIN, self.CABIN, self.SEAT, self.CABIN]
        assert fired_at(Opens("Cabin"), *course) == [1, 4]

    def test_unreadable_answer_arms_nothing(self):
        assert fired_at(Opens(), reply(is_complete=LOST), reply("80")) == []


PRICES = st.sampled_from(["80", "89.99", "90", "90.01", "95", "100", "112.50"])
SAILINGS = st.builds(
    Offered,
    price=PRICES,
    currency=st.sampled_from(["EUR", "EUR", "TND"]),
    places=st.sampled_from([("Seat",), ("Seat", "Cabin"), ("Cabin",)]),
    hour=st.sampled_from([8, 20]),
)
REPLIES = st.builds(
    Reply,
    sailings=st.lists(SAILINGS, max_size=2).map(tuple),
    is_complete=st.sampled_from([True, True, True, False]),
)
RULES = st.sampled_from(
    [
        Below("90", "EUR"),
        Drop(percent=10),
        Drop(amount=5, currency="EUR"),
        Opens(),
        Opens("Cabin"),
    ]
)


@examples(1000)
@given(RULES, st.lists(REPLIES, max_size=12))
def test_any_course_of_answers_is_judged_as_slowly(rule, replies):
    assert verdicts(rule, replies) == fires(rule, replies)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        pytest.param(lambda: Below(90.5, "EUR"), "amount", id="float"),
        pytest.param(lambda: Below("90", None), "currency", id="no currency"),
        pytest.param(lambda: Below("90", "euros"), "currency", id="no code"),
        pytest.param(Drop, "percent", id="nothing"),
        pytest.param(lambda: Drop(percent=5, amount=5), "percent", id="both"),
        pytest.param(lambda: Drop(percent=0), "percent", id="no drop"),
        pytest.param(lambda: Drop(percent=101), "percent", id="more than all"),
        pytest.param(lambda: Drop(percent=5, currency="EUR"), "currency", id="currency"),
        pytest.param(lambda: Drop(amount=0, currency="EUR"), "amount", id="no amount"),
        pytest.param(lambda: Drop(amount=5), "currency", id="amount alone"),
        pytest.param(lambda: Opens(" "), "place", id="blank place"),
    ],
)
def test_rule_without_a_meaning_is_refused(make, field):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert error.value.field == field

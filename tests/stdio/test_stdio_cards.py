"""Approval by a card: what the model, the page and the person get, and what an answer does."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from tests.agents.agent import error, order, result_of, sailings
from tests.stdio.conftest import PAGES, Card, CardHost, Person, command, environment
from tests.support.effects import effects
from tests.support.processes import run
from tests.support.tiers import mostly_long
from tests.support.trip import DAY

PAGE = "ui://ferry-sdk/approval-card.html"


@pytest.fixture
def start(hosts):
    """Start a host that shows pages."""
    return lambda *options, person=None: CardHost(
        hosts(person, "--writes", *options, extensions=[PAGES])
    )


@pytest.fixture
def host(start):
    """A host that shows pages."""
    return start()


def created(host, which=0):
    """Book by a card; return the id of the booking."""
    shown = host.show("bookings_create", order(sailings(host.host)[which]))
    return result_of(shown.press().answer)["booking_id"]


class TestCard:
    """What a call of a write answers."""

    def test_nothing_is_changed_before_the_answer(self, host, ferry_sandbox):
        shown = host.show("bookings_create", order(sailings(host.host)[0]))
        assert shown.answer["status"] == "approval_needed"
        assert effects(ferry_sandbox) == []

    def test_model_sees_no_secret(self, host):
        shown = host.show("bookings_create", order(sailings(host.host)[0]))
        assert [
            word for word in (shown.call["secret"], shown.call["box"]) if word in shown.text
        ] == []
        assert "confirmation_code" not in shown.text

    def test_card_of_a_booking_has_price_and_travellers(self, host):
        shown = host.show("bookings_create", order(sailings(host.host)[0]))
        amount = shown.answer["approval"]["amount"]
        assert shown.rows["Price"] == f"{amount} EUR"
        assert shown.rows["Travellers"] == '"Marguerite Okonkwo"'
        assert "Tarifa" in shown.data["question"]

    def test_card_of_a_cancellation_has_fee_and_refund(self, host):
        booking_id = created(host)
        host.show("bookings_confirm", {"booking_id": booking_id}).press()
        fee = result_of(host.host.call("bookings_cancel_fee", {"id": booking_id}))
        shown = host.show("bookings_cancel", {"booking_id": booking_id})
        assert shown.rows["Kept"] == f"{fee['penalty_amount']} EUR"
        assert shown.rows["Paid back"] == f"{fee['refund_amount']} EUR"

    def test_card_has_the_limits(self, start):
        limits = ["--spend-limit", "EUR=500", "--penalty-limit", "EUR=50"]
        more = ["--per-booking", "200 EUR", "--until", "2090-01-01T00:00+00:00"]
        host = start(*limits, *more)
        created(host)
        shown = host.show("bookings_create", order(sailings(host.host)[1]))
        price = Decimal(shown.answer["approval"]["amount"])
        assert price > 0
        assert shown.rows["Spending limit"].startswith("500.00 EUR, ")
        assert shown.rows["Limit for one booking"] == "200.00 EUR"
        assert shown.rows["Limit for a cancellation"] == "50.00 EUR"
        assert shown.rows["Until"].startswith("2090-01-01T00:00:00")

    def test_card_names_handles_only(self, start, tmp_path):
        file = tmp_path / "party.json"
        names = {"first_name": "Zoë", "last_name": "Müller-Łuk"}
        party = [{"type": "Adult", "gender": "Female", "age": 34, **names}]
        file.write_text(json.dumps(party), "utf-8")
        host = start("--travellers", str(file))
        query = {"origin": "Tarifa", "destination": "MATNG", "on": "2050-07-12", "flexible": 3}
        found = result_of(host.host.call("trips_find", {**query, "travellers": ["t1"]}))
        chosen = {"offer": found["offers"][0]["offer"], "travellers": ["t1"]}
        shown = host.show("bookings_create", chosen)
        assert shown.rows["Travellers"] == "t1"
        assert "Müller" not in json.dumps(shown.data, ensure_ascii=False)

    def test_refused_call_shows_no_card(self, host):
        shown = host.show("bookings_confirm", {"booking_id": "never-shown"})
        error(shown.answer, "unseen_id")
        assert shown.data is None


class TestAnswer:
    """What the page's answer does."""

    @pytest.fixture
    def shown(self, host):
        """The card of a booking."""
        return host.show("bookings_create", order(sailings(host.host)[0]))

    def test_approved_write_is_made(self, shown, ferry_sandbox):
        result_of(shown.press().answer)
        assert effects(ferry_sandbox) == ["bookings.create"]

    def test_declined_write_is_not_made(self, shown, ferry_sandbox):
        error(shown.press(approved=False).answer, "declined")
        assert effects(ferry_sandbox) == []

    def test_declined_card_cannot_be_approved(self, shown, ferry_sandbox):
        shown.press(approved=False)
        error(shown.press().answer, "approval_expired")
        assert effects(ferry_sandbox) == []

    def test_second_press_makes_no_second_write(self, shown, ferry_sandbox):
        shown.press()
        error(shown.press().answer, "approval_expired")
        assert effects(ferry_sandbox) == ["bookings.create"]

    def test_model_learns_the_outcome_by_the_same_call(self, host, shown):
        made = result_of(shown.press().answer)
        again = host.show("bookings_create", shown.call["arguments"])
        assert error(again.answer, "already_done")["result"] == made

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param({"secret": "guessed"}, id="secret"),
            pytest.param({"tool": "bookings_confirm"}, id="tool"),
            pytest.param({"arguments": {}}, id="arguments"),
        ],
    )
    def test_changed_call_is_refused(self, host, shown, ferry_sandbox, change):
        answer = CardHost.press(host, {**shown.call, **change}, approved=True)
        assert json.loads(answer.content[0].text)["error"]["code"] == "approval_expired"
        assert effects(ferry_sandbox) == []

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            pytest.param({"arguments": None}, "call.arguments", id="no arguments"),
            pytest.param({"more": 1}, "call.more", id="more"),
        ],
    )
    def test_malformed_answer_keeps_the_card(self, host, shown, change, field):
        answer = host.press({**shown.call, **change}, approved=True)
        refused = json.loads(answer.content[0].text)["error"]
        assert (refused["code"], refused["message"].split(":")[0]) == ("invalid_arguments", field)
        result_of(shown.press().answer)

    def test_other_box_shows_another_card(self, host, shown, ferry_sandbox):
        changed = {**shown.call, "box": "approve_0000000000000000"}
        result = host.press(changed, approved=True)
        assert json.loads(result.content[0].text)["status"] == "approval_needed"
        assert effects(ferry_sandbox) == []

    def test_answer_to_another_question_is_no_refusal(self, host, shown):
        for _ in range(3):
            other = {**shown.call, "box": "approve_0000000000000000"}
            shown = Card(host, host.press(other, approved=True))
            assert shown.answer["status"] == "approval_needed"

    @pytest.mark.parametrize("approved", [1, "true", None])
    def test_approval_is_a_boolean(self, host, shown, ferry_sandbox, approved):
        host.press(shown.call, approved=approved)
        assert effects(ferry_sandbox) == []


class TestChangedPrice:
    """The price changes while the card is shown."""

    @pytest.fixture
    def shown(self, host, ferry_sandbox):
        """The card of a cancellation, whose fee has changed since."""
        booking_id = created(host)
        host.show("bookings_confirm", {"booking_id": booking_id}).press()
        shown = host.show("bookings_cancel", {"booking_id": booking_id})
        # From its next preview on, the service keeps more.
        more = {"field": "penalty_amount", "value": "9.99"}
        ferry_sandbox.faults.add("unknown_enum", "bookings.cancel_fee", times=9, **more)
        return shown

    def test_person_is_asked_again(self, shown, ferry_sandbox):
        second = shown.press()
        assert second.rows["Kept"] != shown.rows["Kept"]
        assert effects(ferry_sandbox)[-1] == "bookings.confirm"


class TestTools:
    """What the host offers to its model and to the page."""

    def test_writes_name_the_page(self, host):
        tools = host.host.tools()
        assert tools["bookings_create"].meta["ui"] == {"resourceUri": PAGE, "visibility": ["model"]}
        assert tools["bookings_get"].meta is None

    def test_page_alone_may_answer(self, host):
        assert host.host.tools()["approval_card_answer"].meta["ui"]["visibility"] == ["app"]

    def test_answer_is_announced_as_a_change(self, host):
        hints = host.host.tools()["approval_card_answer"].annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (False, True)

    def test_reading_server_has_no_card(self, hosts):
        host = hosts(None, extensions=[PAGES])
        assert "approval_card_answer" not in host.tools()

    def test_page_needs_nothing_from_elsewhere(self, host):
        (content,) = host.host.wait(host.host.client.read_resource, PAGE).contents
        assert content.mime_type == "text/html;profile=mcp-app"
        assert [
            word for word in ("http://", "https://", "src=", "@import") if word in content.text
        ] == []

    def test_page_prefers_a_border(self, host):
        (content,) = host.host.wait(host.host.client.read_resource, PAGE).contents
        assert content.meta["ui"] == {"prefersBorder": True}

    def test_page_is_not_among_the_resources(self, host):
        listed = host.host.wait(host.host.client.list_resources).resources
        assert PAGE not in [resource.uri for resource in listed]

    def test_answer_is_no_tool_of_other_hosts(self, hosts):
        host = hosts(None, "--writes")
        assert "approval_card_answer" not in host.tools()
        call = {"tool": "bookings_create", "arguments": {}, "secret": "s", "box": "b"}
        with pytest.raises(Exception, match="Unknown tool"):
            host.wait(
                host.client.call_tool, "approval_card_answer", {"call": call, "approved": True}
            )


class TestWays:
    """`--approval` chooses how a person is asked."""

    @pytest.fixture
    def asked_by(self, hosts, ferry_sandbox):
        """Call a write through a host; say how a person was asked."""

        def asked_by(approval, *, form=False, pages=False):
            person = Person() if form else None
            extensions = [PAGES] if pages else []
            host = hosts(person, "--writes", "--approval", approval, extensions=extensions)
            arguments = order(sailings(host)[0])
            result = host.wait(host.client.call_tool, "bookings_create", arguments)
            answer = json.loads(result.content[0].text)
            if person is not None and person.shown:
                return "form"
            if result.meta and "ferry-sdk/card" in result.meta:
                return "card"
            return "code" if "approval" in answer else answer["error"]["code"]

        return asked_by

    @pytest.mark.parametrize(
        ("approval", "declared", "expected"),
        mostly_long(
            [
                pytest.param("auto", {"form": True, "pages": True}, "card", id="auto, both"),
                pytest.param("auto", {"form": True}, "form", id="auto, form"),
                pytest.param("auto", {}, "code", id="auto, nothing"),
                pytest.param("form", {"form": True, "pages": True}, "form", id="form, both"),
                pytest.param("form", {"pages": True}, "approval_failed", id="form, pages"),
                pytest.param("card", {"form": True}, "approval_failed", id="card, form"),
                pytest.param("code", {"form": True, "pages": True}, "code", id="code, both"),
                pytest.param("none", {"form": True, "pages": True}, "approval_failed", id="none"),
            ],
            short=4,
        ),
    )
    def test_way_is_chosen(self, asked_by, approval, declared, expected):
        assert asked_by(approval, **declared) == expected

    def test_nobody_to_ask_makes_no_write(self, hosts, ferry_sandbox):
        host = hosts(None, "--writes", "--approval", "none")
        for which in range(3):
            refused = host.call("bookings_create", order(sailings(host)[which]))
            error(refused, "approval_failed")
        assert effects(ferry_sandbox) == []

    def test_other_word_is_refused(self, ferry_sandbox):
        ended = run(command("--approval", "maybe"), env=environment(ferry_sandbox))
        assert ended.returncode == 2
        assert "--approval" in ended.stderr


class TestOneTurn:
    """A model makes an equal call twice in one turn."""

    def test_second_card_is_not_shown(self, host):
        arguments = order(sailings(host.host)[0])
        assert host.show("bookings_create", arguments).data is not None
        error(host.show("bookings_create", arguments).answer, "under_way")

    def test_answered_card_may_be_asked_again(self, host):
        arguments = order(sailings(host.host)[0])
        host.show("bookings_create", arguments).press(approved=False)
        assert host.show("bookings_create", arguments).data is not None

    def test_other_call_is_asked(self, host):
        first, second = sailings(host.host)[:2]
        host.show("bookings_create", order(first))
        assert host.show("bookings_create", order(second)).data is not None


def test_eleventh_card_without_an_answer_is_refused(host):
    found = []
    while len(found) < 11:
        found += sailings(host.host, out_at=str(DAY + timedelta(days=len(found))))
    *shown, refused = found[:11]
    for sailing in shown:
        assert host.show("bookings_create", order(sailing)).data is not None
    error(host.show("bookings_create", order(refused)).answer, "declined")


def test_lists_may_be_kept(hosts):
    host = hosts(None, "--writes")
    if hosts.era == "legacy":
        pytest.skip("the older protocol has no cache hints")
    listed = host.wait(host.client.list_tools)
    assert listed.ttl_ms == 300_000
    assert listed.cache_scope == "private"

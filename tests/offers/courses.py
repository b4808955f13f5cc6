"""Series of prices and places, a watch that is killed at statements, and what must be true then."""

from datetime import timedelta
from decimal import Decimal

from sqlalchemy import event

from ferry_sdk import errors
from ferry_sdk.journal import Journal
from ferry_sdk.offers import Below, Drop, Opens
from tests.offers.reference import fires
from tests.offers.virtual import HOUR, START, Offered, Reply, Service, store_wish, wish

RULES = (
    Below("90", "EUR"),
    Drop(percent=10),
    Drop(amount=5, currency="EUR"),
    Opens(),
    Opens("Cabin"),
)
PRICES = ("80", "85.50", "90", "94", "100", "112")
FAILED = errors.ServerError("no", status_code=503)


ANY_NUMBER = 10**9


class Killed(BaseException):
    """The process ends here."""


class Database:
    """A journal in memory, whose process can be killed before any statement.

    Attributes:
        left: The statements that are still run.
        statements: How many were run.
    """

    def __init__(self):
        self.left = ANY_NUMBER
        self.statements = 0
        self.journal = Journal("sqlite://")
        event.listen(self.journal._engine, "before_cursor_execute", self._count)

    def _count(self, *_):
        if self.left == 0:
            raise Killed
        self.left -= 1
        self.statements += 1


def random_reply(lot):
    """Return an answer, or a failure."""
    if lot.random() < 0.1:
        return FAILED
    sailings = [
        Offered(
            price=lot.choice(PRICES),
            currency=lot.choice(["EUR", "EUR", "EUR", "TND"]),
            places=lot.choice([("Seat",), ("Seat", "Cabin")]),
            hour=lot.choice([8, 20]),
        )
        for _ in range(lot.choice([0, 1, 1, 2]))
    ]
    return Reply(tuple(sailings), is_complete=lot.random() > 0.15)


class Course:
    """A series of replies, asked by watches that are killed. Its journal ends with its block.

    Attributes:
        replies: What the service answers, one reply after the other, and the last one for ever.
        events: The events that were given, in order.
        kills: How often the process was killed.
    """

    def __init__(self, replies):
        self.replies = replies
        self.events = []
        self.kills = 0
        self.database = Database()
        self.wishes = {"all": RULES, "below": RULES[:1]}
        for key, rules in self.wishes.items():
            store_wish(self.database.journal, key, wish(*rules))
        self._answers = {}
        self._service = Service(self._answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.database.journal.close()

    def _answer(self, _, time):
        reply = self.replies[min(len(self._answers), len(self.replies) - 1)]
        self._answers[START + timedelta(seconds=int(time))] = reply
        return reply

    @property
    def is_over(self):
        return len(self._answers) >= len(self.replies)

    def watch(self, statements=ANY_NUMBER, *, hours=0.5):
        """Watch for some hours, and be killed before the statement after so many."""
        events = self._service.watch(
            self.database.journal, deadline=hours * HOUR, every=0.9 * HOUR, most=50
        )
        self.database.left = statements
        try:
            for each in events:
                self.events.append(each)
        except Killed:
            self.kills += 1
        self.database.left = ANY_NUMBER
        self._service.time += HOUR

    def check(self):
        """Give what is left, and compare all events with the answers that were recorded."""
        self.watch(hours=0.02)
        answers = self.database.journal.offers.load_answers(("FRMRS", "TNLGN"), None, None)
        recorded = {answer.seen_at: self._answers[answer.seen_at] for answer in answers}

        expected = []
        for key, rules in self.wishes.items():
            for rule in rules:
                verdicts = fires(rule, [*recorded.values()])
                for seen_at, before in zip(recorded, verdicts, strict=True):
                    if before is not None:
                        expected.append((key, str(rule), seen_at, _text(before)))

        by_id = {}
        for each in self.events:
            assert by_id.setdefault(each.id, each) == each
        distinct = by_id.values()
        seen = [
            (each.key, str(each.rule), each.seen_at, _text(each.before or "none"))
            for each in distinct
        ]
        assert sorted(seen) == sorted(expected)
        for each in distinct:
            sailings = self._answers[each.seen_at].sailings
            prices = {(Decimal(sailing.price), sailing.currency) for sailing in sailings}
            assert (each.price, each.currency) in prices


def _text(before):
    """Return a price before, or that there is none."""
    return before if before == "none" else f"{before:.2f}"

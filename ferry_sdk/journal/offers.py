"""Statements on the tables of wishes, which `OfferStore` runs.

A wish needs searches, and several wishes may need the same one:

1. `save_wish` stores a wish. A program that watches finds it (`wishes_to_look_up`), looks up its
   searches, and saves them (`save_searches`). A row of `rule_states` links a wish with a search.
2. `claim` says which searches a program may make now. It counts the calls of the last hour, takes
   the searches that were asked longest ago, and notes that they are asked, in one transaction. So
   two programs never make the same search at the same time, and together keep the limit.
3. `record` stores what a search has answered. It reads the states of the rules, lets the caller
   judge the answer, and saves the answer, the new states and the events, in one transaction. So a
   program that is killed has saved all of it or nothing.
4. An event is in the table until it was given (`delete_event`).

For example, with a limit of two calls an hour and three searches that are due, `claim` returns the
first two. Their calls count until an hour after the moment at which the last byte of them can
leave. Only then `claim` returns the third.

A program that is killed between `claim` and `record` has asked in vain. So each search that was
claimed may be repeated after some minutes, until `record` or `end_search` says that it need not.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from sqlalchemy import and_, bindparam, delete, exists, func, insert, or_, select, text, update

from ferry_sdk.journal.connections import exclusive_transaction
from ferry_sdk.journal.schema import (
    UtcDateTime,
    answers,
    counted_calls,
    offer_events,
    offer_ports,
    rule_states,
    searches,
    wishes,
)
from ferry_sdk.types import (
    AnswerRecord,
    ClaimRequest,
    Judgement,
    OfferEventRecord,
    SearchClaim,
    SearchRecord,
    WishRecord,
    WishState,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import date

    from sqlalchemy import ColumnElement, Connection

    Judge = Callable[[Sequence[WishState]], Judgement]

HOUR: Final = timedelta(hours=1)
CALL_TIME: Final = timedelta(seconds=30)
"""The most time from a claim to the end of its calls. A call counts an hour longer than this."""
REPEAT_AFTER: Final = timedelta(minutes=5)
"""How long after a claim without an answer the search may be claimed again."""
LOOK_UP_AGAIN: Final = timedelta(days=1)
"""How long the searches of a wish stay as they were looked up: another company may sail by then."""
ABANDONED: Final = timedelta(minutes=10)
"""How long the program that recorded an event has for giving it, before another one gives it."""
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""When a search was asked that was not asked yet."""

# SQLAlchemy has these statements for each database only; they share their text.
_SAVE_WISH: Final = text(
    f"INSERT INTO {wishes.name} (key, content, last_day) "  # noqa: S608 -- a constant
    "VALUES (:key, :content, :last_day) ON CONFLICT (key) DO UPDATE SET "
    "content = excluded.content, last_day = excluded.last_day, looked_up_at = NULL, ended_at = NULL"
).bindparams(bindparam("last_day", type_=wishes.c.last_day.type))
_ADD_SEARCH: Final = text(
    f"INSERT INTO {searches.name} (id, content, day, asked_at, may_be_repeated) "  # noqa: S608 -- a constant
    "VALUES (:id, :content, :day, :asked_at, :may_be_repeated) ON CONFLICT (id) DO NOTHING"
).bindparams(
    bindparam("day", type_=searches.c.day.type),
    bindparam("asked_at", type_=UtcDateTime),
    bindparam("may_be_repeated", type_=searches.c.may_be_repeated.type),
)
_LINK: Final = text(
    f"INSERT INTO {rule_states.name} (search_id, wish_key) "  # noqa: S608 -- a constant
    "VALUES (:search_id, :wish_key) ON CONFLICT (search_id, wish_key) DO NOTHING"
)
_SAVE_PORT: Final = text(
    f"INSERT INTO {offer_ports.name} (code, name) VALUES (:code, :name) "  # noqa: S608 -- a constant
    "ON CONFLICT (code) DO UPDATE SET name = excluded.name"
)


def save_wish(connection: Connection, wish: WishRecord) -> None:
    """Insert a wish, or replace the one with its key; an equal one stays as it is."""
    with exclusive_transaction(connection):
        query = select(wishes.c.content).where(wishes.c.key == wish.key)
        if connection.execute(query).scalar_one_or_none() != wish.content:
            values = {"key": wish.key, "content": wish.content, "last_day": wish.last_day}
            connection.execute(_SAVE_WISH, values)


def remove_wish(connection: Connection, key: str) -> bool:
    """Delete a wish with the states of its rules and its events; return whether there was one."""
    with exclusive_transaction(connection):
        connection.execute(delete(rule_states).where(rule_states.c.wish_key == key))
        connection.execute(delete(offer_events).where(offer_events.c.wish_key == key))
        return connection.execute(delete(wishes).where(wishes.c.key == key)).rowcount > 0


def load_wishes(connection: Connection) -> tuple[WishRecord, ...]:
    """Return all wishes, by their keys."""
    query = select(wishes.c.key, wishes.c.content, wishes.c.last_day).order_by(wishes.c.key)
    return tuple(WishRecord(*row) for row in connection.execute(query).all())


def wishes_to_look_up(
    connection: Connection, now: datetime, keys: Collection[str] | None, most: int
) -> tuple[WishRecord, ...]:
    """Return wishes whose searches are not known, or were looked up long ago."""
    columns = (wishes.c.key, wishes.c.content, wishes.c.last_day, wishes.c.looked_up_at)
    query = select(*columns).where(
        wishes.c.ended_at.is_(None),
        or_(wishes.c.looked_up_at.is_(None), wishes.c.looked_up_at <= now - LOOK_UP_AGAIN),
        *_with_key(wishes.c.key, keys),
    )
    rows = connection.execute(query.order_by(wishes.c.key).limit(most)).all()
    return tuple(
        WishRecord(key, content, last_day, is_looked_up=looked_up_at is not None)
        for key, content, last_day, looked_up_at in rows
    )


def save_searches(
    connection: Connection,
    now: datetime,
    looked_up: Sequence[tuple[WishRecord, Sequence[SearchRecord]]],
    ports: Mapping[str, str],
) -> None:
    """Save the searches of wishes, unless a wish was replaced or removed since.

    Args:
        connection: Where to save them.
        now: The present moment.
        looked_up: Each wish as it was when its searches were looked up, with these.
        ports: The names of the ports, by their codes.
    """
    with exclusive_transaction(connection):
        for wish, wish_searches in looked_up:
            is_unchanged = and_(wishes.c.key == wish.key, wishes.c.content == wish.content)
            mark = update(wishes).where(is_unchanged).values(looked_up_at=now)
            if connection.execute(mark).rowcount:
                _link(connection, wish, wish_searches)
        if ports:
            rows = [{"code": code, "name": name} for code, name in ports.items()]
            connection.execute(_SAVE_PORT, rows)


def _link(connection: Connection, wish: WishRecord, wish_searches: Sequence[SearchRecord]) -> None:
    """Link a wish with searches.

    The states of the searches that it had before stay. Of a wish that is looked up again, all stay:
    a search may be missing only because a catalogue could not be read.
    """
    of_wish = rule_states.c.wish_key == wish.key
    query = select(rule_states.c.search_id).where(of_wish)
    linked = {*connection.execute(query).scalars().all()}
    wanted = {search.id: search for search in wish_searches}

    unwanted = [{"unwanted_id": search_id} for search_id in linked - wanted.keys()]
    if unwanted and not wish.is_looked_up:
        is_unwanted = rule_states.c.search_id == bindparam("unwanted_id")
        connection.execute(delete(rule_states).where(is_unwanted, of_wish), unwanted)

    new = [search for search_id, search in wanted.items() if search_id not in linked]
    if new:
        rows = [
            {
                "id": search.id,
                "content": search.content,
                "day": search.day,
                "asked_at": _NEVER,
                "may_be_repeated": False,
            }
            for search in new
        ]
        connection.execute(_ADD_SEARCH, rows)
        links = [{"search_id": search.id, "wish_key": wish.key} for search in new]
        connection.execute(_LINK, links)


def claim(connection: Connection, request: ClaimRequest) -> SearchClaim:
    """Reserve calls for the searches that are due, and return these.

    The searches are returned after the commit, so a call that is made was counted before.
    """
    with exclusive_transaction(connection):
        now = _monotonic_now(connection, request.now)
        connection.execute(delete(counted_calls).where(counted_calls.c.counts_until <= now))
        count = connection.execute(select(func.count()).select_from(counted_calls)).scalar_one()
        free = min(request.most_an_hour - count, request.most)

        claimed: list[SearchRecord] = []
        if free > 0:
            is_due = searches.c.asked_at <= now - request.every
            may_be_repeated = and_(
                searches.c.may_be_repeated, searches.c.asked_at <= now - REPEAT_AFTER
            )
            query = select(searches.c.id, searches.c.content, searches.c.day)
            query = query.where(_is_needed(request), or_(is_due, may_be_repeated))
            query = query.order_by(searches.c.asked_at, searches.c.id).limit(free)
            claimed = [SearchRecord(*row) for row in connection.execute(query).all()]
            _reserve(connection, claimed, now)

        if claimed:
            return SearchClaim(tuple(claimed), now)
        return SearchClaim((), _next_claim(connection, request, now))


def _monotonic_now(connection: Connection, now: datetime) -> datetime:
    """Return the present moment; not before the last claim, whose machine's clock may be ahead."""
    last = connection.execute(select(func.max(counted_calls.c.counts_until))).scalar_one_or_none()
    return now if last is None else max(now, last - HOUR - CALL_TIME)


def _reserve(connection: Connection, claimed: Sequence[SearchRecord], now: datetime) -> None:
    """Note that searches are asked, and count their calls.

    Each is asked a microsecond after the one before it, so that they keep their order.
    """
    if not claimed:
        return
    mark = update(searches).where(searches.c.id == bindparam("search_id"))
    mark = mark.values(asked_at=bindparam("now"), may_be_repeated=True)
    asked = [
        {"search_id": search.id, "now": now + timedelta(microseconds=number)}
        for number, search in enumerate(claimed)
    ]
    connection.execute(mark, asked)
    counts_until = now + HOUR + CALL_TIME
    rows = [{"id": token_hex(16), "counts_until": counts_until} for _ in claimed]
    connection.execute(insert(counted_calls), rows)


def _next_claim(connection: Connection, request: ClaimRequest, now: datetime) -> datetime | None:
    """Return when a search may be claimed next; None if no wish needs one."""
    oldest = select(searches.c.asked_at).where(_is_needed(request))
    oldest = oldest.order_by(searches.c.asked_at).limit(1)
    asked_at = connection.execute(oldest).scalar()
    if asked_at is None:
        return None
    next_at: datetime = asked_at + request.every

    failed_at = connection.execute(oldest.where(searches.c.may_be_repeated)).scalar()
    if failed_at is not None:
        next_at = min(next_at, failed_at + REPEAT_AFTER)

    # A call becomes free when as many have ended to count as there are beyond the limit.
    query = select(counted_calls.c.counts_until).order_by(counted_calls.c.counts_until.desc())
    free_at = connection.execute(query.offset(request.most_an_hour - 1).limit(1)).scalar()
    return max(next_at, now) if free_at is None else max(next_at, free_at)


def _is_needed(request: ClaimRequest) -> ColumnElement[bool]:
    """Select the searches of days that are not past, which a wish needs."""
    is_linked = exists().where(
        rule_states.c.search_id == searches.c.id,
        *_with_key(rule_states.c.wish_key, request.keys),
    )
    return and_(searches.c.day >= request.first_day, is_linked)


def _with_key(
    column: ColumnElement[str], keys: Collection[str] | None
) -> tuple[ColumnElement[bool], ...]:
    """Return the condition that a column has one of these keys; none for all keys."""
    return () if keys is None else (column.in_([*keys]),)


def overdue(connection: Connection, request: ClaimRequest) -> tuple[SearchRecord, ...]:
    """Return the searches that are due and were not claimed, the first of so many."""
    query = select(searches.c.id, searches.c.content, searches.c.day)
    is_due = searches.c.asked_at <= request.now - request.every
    query = query.where(_is_needed(request), is_due).order_by(searches.c.asked_at, searches.c.id)
    rows = connection.execute(query.limit(request.most)).all()
    return tuple(SearchRecord(*row) for row in rows)


def record(
    connection: Connection,
    search_id: str,
    judge: Judge,
    *,
    now: datetime,
    keys: Collection[str] | None,
) -> tuple[OfferEventRecord, ...]:
    """Judge and store an answer, and return the events of the watched wishes.

    Args:
        connection: Where to store it.
        search_id: The search that was answered.
        judge: Returns what the answer means, given the wishes and the states of their rules.
        now: The present moment.
        keys: The wishes that this program watches; None: all.
    """
    with exclusive_transaction(connection):
        query = select(rule_states.c.wish_key, wishes.c.content, rule_states.c.content)
        query = query.join_from(rule_states, wishes, wishes.c.key == rule_states.c.wish_key)
        is_known = wishes.c.looked_up_at.is_not(None)  # the searches are those of this content
        query = query.where(rule_states.c.search_id == search_id, is_known)
        rows = connection.execute(query.order_by(rule_states.c.wish_key)).all()
        judgement = judge([WishState(*row) for row in rows])

        _save_states(connection, search_id, judgement.states)
        events = [event for event in judgement.events if keys is None or event.key in keys]
        taken = {event.id for event in events}
        for event in judgement.events:
            taken_at = now if event.id in taken else None
            _add_event(connection, event, taken_at=taken_at)
        if rows:
            answer = judgement.answer
            connection.execute(
                insert(answers).values(
                    depart_code=answer.depart_code,
                    arrive_code=answer.arrive_code,
                    seen_at=answer.seen_at,
                    content=answer.content,
                )
            )
        end_search(connection, search_id)
    return tuple(events)


def _save_states(connection: Connection, search_id: str, states: Mapping[str, str]) -> None:
    if states:
        condition = rule_states.c.wish_key == bindparam("key")
        change = update(rule_states).where(rule_states.c.search_id == search_id, condition)
        rows = [{"key": key, "new_content": content} for key, content in states.items()]
        connection.execute(change.values(content=bindparam("new_content")), rows)


def _add_event(connection: Connection, event: OfferEventRecord, taken_at: datetime | None) -> None:
    row = {
        "id": event.id,
        "wish_key": event.key,
        "content": event.content,
        "seen_at": event.seen_at,
        "taken_at": taken_at,
    }
    connection.execute(insert(offer_events), row)


def end_search(connection: Connection, search_id: str) -> None:
    """Note that a search need not be repeated before its next turn."""
    search = update(searches).where(searches.c.id == search_id)
    connection.execute(search.values(may_be_repeated=False))


def end_wishes(
    connection: Connection,
    first_day: date,
    make_event: Callable[[str], OfferEventRecord],
) -> None:
    """End the wishes whose last day has passed, each with one event, and drop unneeded searches."""
    is_past = and_(wishes.c.last_day < first_day, wishes.c.ended_at.is_(None))
    with exclusive_transaction(connection):
        keys = connection.execute(select(wishes.c.key).where(is_past)).scalars().all()
        for key in keys:
            event = make_event(key)
            _add_event(connection, event, taken_at=None)
            ended = update(wishes).where(wishes.c.key == key).values(ended_at=event.seen_at)
            connection.execute(ended)
            connection.execute(delete(rule_states).where(rule_states.c.wish_key == key))

        is_linked = exists().where(rule_states.c.search_id == searches.c.id)
        connection.execute(delete(searches).where(or_(searches.c.day < first_day, ~is_linked)))
        is_kept = exists().where(searches.c.id == rule_states.c.search_id)
        connection.execute(delete(rule_states).where(~is_kept))


def take_events(
    connection: Connection, now: datetime, keys: Collection[str] | None, *, abandoned: bool
) -> tuple[OfferEventRecord, ...]:
    """Return the events that were not given, oldest first.

    Args:
        connection: Where to read them.
        now: The present moment.
        keys: The wishes; None: all.
        abandoned: Whether to leave those to the program that recorded them, for some minutes.
    """
    conditions = [*_with_key(offer_events.c.wish_key, keys)]
    if abandoned:
        taken_at = offer_events.c.taken_at
        conditions.append(or_(taken_at.is_(None), taken_at <= now - ABANDONED))

    names = ("id", "wish_key", "content", "seen_at")
    columns = [offer_events.c[name] for name in names]
    query = select(*columns).where(*conditions)
    rows = connection.execute(query.order_by(offer_events.c.number)).all()
    if rows:
        mark = update(offer_events).where(offer_events.c.id == bindparam("event_id"))
        taken = [{"event_id": row[0]} for row in rows]
        connection.execute(mark.values(taken_at=now), taken)
    return tuple(OfferEventRecord(*row) for row in rows)


def delete_event(connection: Connection, event_id: str) -> None:
    """Delete an event that was given."""
    connection.execute(delete(offer_events).where(offer_events.c.id == event_id))


def load_ports(connection: Connection) -> dict[str, str]:
    """Return the names of the ports of all searches, by their codes."""
    rows = connection.execute(select(offer_ports.c.code, offer_ports.c.name)).all()
    return {code: name for code, name in rows}  # noqa: C416 -- rows are no pairs for a type checker


def load_answers(
    connection: Connection,
    ends: tuple[str, str],
    since: datetime | None,
    until: datetime | None,
) -> tuple[AnswerRecord, ...]:
    """Return the answers of searches between two ports, oldest first."""
    depart_code, arrive_code = ends
    names = ("depart_code", "arrive_code", "seen_at", "content")
    query = select(*(answers.c[name] for name in names)).where(
        answers.c.depart_code == depart_code, answers.c.arrive_code == arrive_code
    )
    if since is not None:
        query = query.where(answers.c.seen_at >= since)
    if until is not None:
        query = query.where(answers.c.seen_at < until)
    rows = connection.execute(query.order_by(answers.c.seen_at, answers.c.id)).all()
    return tuple(AnswerRecord(*row) for row in rows)


def forget(connection: Connection, until: datetime, page: int) -> int:
    """Delete answers that were seen by this moment, at most a page; return their number."""
    old = select(answers.c.id).where(answers.c.seen_at <= until).limit(page)
    return connection.execute(delete(answers).where(answers.c.id.in_(old))).rowcount

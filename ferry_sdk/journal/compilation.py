"""Statements of a write, compiled once for each dialect.

`Connection.execute` builds a key of a statement's parts to find its compiled form, and matches the
parameters with that. For a statement of a journal this takes several times as long as SQLite takes
to run it. So the statements that each write makes are compiled once, as SQLAlchemy compiles them,
and their texts are run by `Connection.exec_driver_sql`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Dialect, Insert, Update

_MOST: Final = 200
"""Texts that are kept: about twenty for each engine."""


class _Text(NamedTuple):
    """A statement for one dialect, such as ``UPDATE … SET state = ? WHERE id = ?`` for SQLite.

    Attributes:
        sql: What the driver runs.
        converters: What makes a parameter a value of the driver, for those that need it.
        order: Puts the parameters in the order of their places; None if the driver finds them by
            name.
    """

    sql: str
    converters: list[tuple[str, Callable[[Any], object]]]
    order: Callable[[Mapping[str, object]], tuple[object, ...]] | None


def run(
    connection: Connection, statement: Insert | Update, parameters: Mapping[str, object]
) -> int:
    """Run a statement, and return the number of rows that it has inserted or changed.

    Args:
        connection: Where to run it.
        statement: A statement that is built once, and whose values are all parameters. An UPDATE
            sets each column that a parameter has the name of.
        parameters: At least two.
    """
    text = _compile(statement, connection.dialect, tuple(parameters))
    values = dict(parameters)
    for name, convert in text.converters:
        values[name] = convert(values[name])
    arguments = values if text.order is None else text.order(values)
    return connection.exec_driver_sql(text.sql, arguments).rowcount


@lru_cache(_MOST)
def _compile(statement: Insert | Update, dialect: Dialect, names: tuple[str, ...]) -> _Text:
    compiled: Any = statement.compile(dialect=dialect, column_keys=[*names])

    converters: list[tuple[str, Callable[[Any], object]]] = []
    for name in names:
        convert = compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect)
        if convert is not None:
            converters.append((name, convert))

    order = itemgetter(*compiled.positiontup) if compiled.positional else None
    return _Text(str(compiled), converters, order)

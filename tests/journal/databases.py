"""Statements past the journal, as another program or a sick disk would make them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine


def engine_for(url: str, **options: Any) -> Engine:
    return create_engine(url.replace("postgresql:", "postgresql+psycopg:"), **options)


def run_sql(url: str, statement: str) -> list[Any]:
    engine = engine_for(url)
    try:
        with engine.begin() as connection:
            result = connection.exec_driver_sql(statement)
            return list(result.fetchall()) if result.returns_rows else []
    finally:
        engine.dispose()

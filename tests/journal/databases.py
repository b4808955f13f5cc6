"""Statements past the journal, as another program or a sick disk would make them."""

from sqlalchemy import create_engine


def engine_for(url, **options):
    return create_engine(url.replace("postgresql:", "postgresql+psycopg:"), **options)


def run_sql(url, statement):
    engine = engine_for(url)
    try:
        with engine.begin() as connection:
            result = connection.exec_driver_sql(statement)
            return list(result.fetchall()) if result.returns_rows else []
    finally:
        engine.dispose()

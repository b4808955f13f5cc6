from ferry_sdk.notebook.charts import fares_by_day as fares_by_day
from ferry_sdk.notebook.charts import network_map as network_map
from ferry_sdk.notebook.charts import prices_over_time as prices_over_time

__all__ = [
    "fares_by_day",
    "network_map",
    "prices_over_time",
]

from ferry_sdk.notebook.charts import fares_by_day as fares_by_day
from ferry_sdk.notebook.charts import network_map as network_map

__all__ = [
    "fares_by_day",
    "network_map",
]

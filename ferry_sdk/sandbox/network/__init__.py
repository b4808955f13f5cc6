"""The network: companies, ports, routes, ships, vehicles, and the timetable."""

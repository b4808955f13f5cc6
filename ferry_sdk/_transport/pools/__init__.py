"""State shared by a client and its views: connections, locks and the session.

Connections and locks belong to the process and the event loop that made them, so each process
and each loop has its own.
"""

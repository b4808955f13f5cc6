"""What a client and its views have in common: connections and locks, and what the service told.

Connections and locks do not outlive the process, nor the event loop, that they were made in.
Each has its own.
"""

"""A journal that remembers which entries were made through it."""


class Noting:
    """Passes everything on to the journal; `beginning` is called before a write is on record."""

    def __init__(self, journal, beginning=None):
        self._journal = journal
        self._beginning = beginning
        self.ids = []

    def begin(self, intent):
        if self._beginning is not None:
            self._beginning()
        entry_id = self._journal.begin(intent)
        self.ids.append(entry_id)
        return entry_id

    def end(self, entry_id, state, details=None):
        self._journal.end(entry_id, state, details)

    @property
    def entries(self):
        return [self._journal.entry(entry_id) for entry_id in self.ids]

    @property
    def states(self):
        return [entry.state for entry in self.entries]

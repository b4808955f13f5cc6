"""What writes have changed at the local service."""


def effects(sandbox):
    """Return the operations that took effect, in order."""
    return [effect.operation for effect in sandbox.counters.effects]

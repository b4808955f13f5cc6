"""What writes have changed at the local service."""


def effects(sandbox):
    return [effect.operation for effect in sandbox.counters.effects]

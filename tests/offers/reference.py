"""What the rules of a wish say, slowly: each answer is judged by all that came before it."""

from decimal import Decimal

from ferry_sdk.offers import Below, Drop


def fires(rule, replies):
    """Return whether a rule fires at each of some replies, and the price before."""
    verdicts = []
    for number in range(len(replies)):
        fired_at = [index for index, verdict in enumerate(verdicts) if verdict is not None]
        last_fired = max(fired_at, default=-1)
        verdicts.append(_verdict(rule, replies[: number + 1], last_fired))
    return verdicts


def _prices(reply, currency):
    return [Decimal(each.price) for each in reply.sailings if each.currency == currency]


def _verdict(rule, replies, last_fired):
    """Return None, or the price before (which may be "none") if the rule fires at the last one."""
    *earlier, last = replies
    if isinstance(rule, Below):
        return _below(rule, earlier, last, last_fired)
    if isinstance(rule, Drop):
        return _drop(rule, earlier, last, last_fired)
    return _opens(rule, earlier, last, last_fired)


def _below(rule, earlier, last, last_fired):
    prices = _prices(last, rule.currency)
    if not prices or min(prices) > rule.amount:
        return None
    above = [
        min(_prices(reply, rule.currency))
        for reply in earlier[last_fired + 1 :]
        if reply.is_complete
        and _prices(reply, rule.currency)
        and min(_prices(reply, rule.currency)) > rule.amount
    ]
    if last_fired >= 0 and not above:
        return None
    return above[-1] if above else "none"


def _drop(rule, earlier, last, last_fired):
    currency = rule.currency
    if currency is None:
        first = next((each for each in earlier if each.is_complete and each.sailings), None)
        if first is None:
            return None
        cheapest = min(first.sailings, key=lambda each: (Decimal(each.price), each.hour))
        currency = cheapest.currency

    seen = [
        min(_prices(reply, currency))
        for reply in earlier[max(last_fired, 0) :]
        if reply.is_complete and _prices(reply, currency)
    ]
    prices = _prices(last, currency)
    if not seen or not prices:
        return None
    highest, price = max(seen), min(prices)
    if rule.amount is not None:
        is_reached = highest - price >= rule.amount
    else:
        is_reached = price < highest and (highest - price) * 100 >= highest * rule.percent
    return highest if is_reached else None


def _opens(rule, earlier, last, last_fired):
    def offers(reply):
        return any(rule.place in {None, *each.places} for each in reply.sailings)

    closed = [
        index for index, reply in enumerate(earlier) if reply.is_complete and not offers(reply)
    ]
    is_armed = bool(closed) and closed[-1] > last_fired
    # No other trip was offered after that answer: the rule would have fired.
    return "none" if is_armed and offers(last) else None

"""The report of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ferry_sdk.conformance.assumptions import ASSUMPTIONS, PROBES, Assumption
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.planning.results import UnreadableAnswer

Verdict = Literal["holds", "differs", "not seen"]


@dataclass(frozen=True, slots=True)
class ConformanceRow:
    """One assumption, compared with the service.

    Attributes:
        id: The assumption's id.
        assumption: What is assumed.
        verdict: ``holds``: the replies are as assumed. ``differs``: they are not. ``not seen``:
            no reply showed it.
        seen: The value that the replies showed, or the reason why none did.
    """

    id: str
    assumption: str
    verdict: Verdict
    seen: str


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """The report of a check. It contains no travellers' data and no tokens.

    Attributes:
        rows: One for each assumption.
        requests: How many requests were sent.
        left: The booking that was made and may not be cancelled, in words; None without one.
        unreadable: The lists with records that could not be read, without their values. The rows
            tell of the other records alone.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.conformance import check
        from ferry_sdk.sandbox import Profile, Sandbox

        with (
            Sandbox(profile=Profile(no_sailings="empty_list")) as sandbox,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            print(check(ferry).profile())
            # > {'no_sailings': 'empty_list'}
        ```
    """

    rows: tuple[ConformanceRow, ...]
    requests: int
    left: str | None = None
    unreadable: tuple[UnreadableAnswer, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the service differs in an assumption."""
        return any(row.verdict == "differs" for row in self.rows)

    def profile(self) -> dict[str, object]:
        """Return the profile of the service: what differs, for a local service to behave so.

        What a local service cannot reproduce is in ``not_reproduced``.
        """
        known_values = {assumption.id: assumption.values for assumption in ASSUMPTIONS}
        profile: dict[str, object] = {}
        not_reproduced: dict[str, str] = {}
        for row in self.rows:
            if row.verdict != "differs":
                continue
            if row.seen in known_values[row.id]:
                profile[row.id] = row.seen
            else:
                not_reproduced[row.id] = row.seen

        if not_reproduced:
            profile["not_reproduced"] = not_reproduced
        return profile


def build_report(findings: Findings) -> ConformanceReport:
    """Compare what was seen with what is assumed."""
    rows = tuple(_compare(assumption, findings) for assumption in ASSUMPTIONS)
    return ConformanceReport(
        rows=rows,
        requests=findings.requests,
        left=findings.left,
        unreadable=tuple(findings.unreadable),
    )


def _compare(assumption: Assumption, findings: Findings) -> ConformanceRow:
    seen = findings.seen.get(assumption.id)
    verdict: Verdict
    if seen is None:
        verdict = "not seen"
        seen = _why_not_seen(assumption, findings)
    elif seen == assumption.values[0]:
        verdict = "holds"
    else:
        verdict = "differs"
    return ConformanceRow(id=assumption.id, assumption=assumption.text, verdict=verdict, seen=seen)


def _why_not_seen(assumption: Assumption, findings: Findings) -> str:
    if assumption.id in findings.reasons:
        return findings.reasons[assumption.id]
    if assumption.probe in PROBES:
        return f"requires {assumption.probe}"
    return assumption.probe

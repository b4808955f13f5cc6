"""Write api.md from the methods, and the lists in docs/ that tables of the package hold.

Usage: api_map.py [--check]
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self, get_args

import ferry_sdk
import ferry_sdk.models
from ferry_sdk import SAFETY, AsyncFerry, Ferry, Proof, Safety
from ferry_sdk._engine.safety import FailureKind
from ferry_sdk.agents.tools.tools import JOURNEY, TOOLS
from ferry_sdk.cli.command_table import COMMANDS
from ferry_sdk.conformance.assumptions import ASSUMPTIONS, PROBES
from ferry_sdk.planning import PlannedResources
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.resources.conditions import Until
from ferry_sdk.resources.read_back import Recovered
from ferry_sdk.sandbox.network.network import load_records
from scripts.signatures import groups, methods

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "api.md"
RETRIES = ROOT / "docs" / "retries.md"
AGENTS = ROOT / "docs" / "agents.md"
ASSUMED = ROOT / "docs" / "assumptions.md"
COMMAND_LINE = ROOT / "docs" / "cli.md"
TESTING = ROOT / "docs" / "local-service" / "testing.md"
SAFETY_HEAD = "| Operations | Kind | Retried after | Effect read back by |\n|---|---|---|---|\n"
TOOLS_HEAD = "| Set | Tools that read | Tools that write, with `writes=True` |\n|---|---|---|\n"
COMMANDS_HEAD = "| Command | What it does |\n|---|---|\n"
SEEN_HEAD = "| Id | Assumed | Shown by |\n|---|---|---|\n"
UNSEEN_HEAD = "| Id | Assumed | Why it is not seen |\n|---|---|---|\n"
TRIALS_HEAD = "| To | What happens |\n|---|---|\n"
JSON_HEAD = "### JSON documents\n\n"
WIDTH = 100
HEAD = """\
# The API

Every method of the clients, the endpoint that it calls, and its types. `AsyncFerry` has the same \
methods, to be awaited; under `with_raw_response` they give the same results in a `RawResponse`.

A **read** may be sent again whatever happened, a **write** only where nothing of it was done: \
[retries](docs/retries.md).

This page is made by `scripts/api-map`, from the methods themselves."""
GROUPS = groups(PlannedResources)
CLIENTS = "## The clients\n\nWhat calls no endpoint of its own. `AsyncFerry` is closed by `aclose`."
METHODS_OF_CLIENTS = (
    Ferry.with_options,
    Ferry.recover,
    Ferry.request,
    Ferry.close,
    AsyncFerry.aclose,
)
SHORTHANDS = {
    "ClientT": Self,
    "Recovered": Recovered,
    "Until": Until,
    "arguments.ReservationTypeName": ReservationTypeName,
}
"""Names of the library's own that a reader should not have to look up."""
TYPES: dict[str, type] = {}
"""The classes that users can import, by their names."""
for package in (ferry_sdk.models, ferry_sdk):
    for public_name in package.__all__:
        value = getattr(package, public_name)
        if isinstance(value, type):
            TYPES[public_name] = value


def in_words(annotation: str) -> str:
    """Write an annotation with what its shorthand stands for."""
    first, *others = annotation.split(" | ")
    if first not in SHORTHANDS:
        return annotation
    meaning = re.sub(r"[\w.]+\.(\w+)", r"\1", str(SHORTHANDS[first])).replace("'", '"')
    return " | ".join([meaning, *others])


def argument(one: inspect.Parameter) -> str:
    """Write one argument with its type and its default."""
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {in_words(one.annotation)}{default}"


def format_call(name: str, signature: inspect.Signature) -> str:
    """Write a method as it is called: on one line, or with one argument a line."""
    arguments: list[str] = []
    for one in list(signature.parameters.values())[1:]:
        if one.kind is one.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        arguments.append(argument(one))

    gives = in_words(re.sub(r"^(?:Operation|Plan)\[(.+)\]$", r"\1", signature.return_annotation))
    line = f"{name}({', '.join(arguments)}) -> {gives}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in arguments), f") -> {gives}"])


def links(code: str) -> Iterator[str]:
    """Link the library's own types that a signature names, each once."""
    for word in dict.fromkeys(re.findall(r"\w+", code)):
        if word in TYPES:
            kind = TYPES[word]
            module = "ferry_sdk.models.records" if kind is ferry_sdk.Records else kind.__module__
            yield f"[`{word}`]({module.replace('.', '/')}.py)"


def section(name: str, documentation: str, signature: inspect.Signature) -> str:
    """Describe one method; one that is in the safety table has to name its endpoint."""
    endpoint = re.search(r"Interface: (.+?)\.$", documentation, re.MULTILINE)
    if endpoint is None and name in SAFETY:
        sys.exit(f"The docstring of {name} names no endpoint.")

    code = format_call(f"ferry.{name}", signature)
    types = ", ".join(links(code))
    lines = [
        f"### `{name}`",
        endpoint and f"`{endpoint[1]}` · {SAFETY[name].kind}",
        re.sub(r" *Interface: .+", "", documentation.splitlines()[0]),
        f"```python\n{code}\n```",
        types and f"Types: {types}",
    ]
    return "\n\n".join(line for line in lines if line)


def page() -> str:
    """Make the whole page."""
    parts = [HEAD]
    for group, kind in GROUPS.items():
        parts.append(f"## {group}\n\n{inspect.getdoc(kind)}")
        for name, one in methods(kind).items():
            documentation = inspect.getdoc(one) or ""
            parts.append(section(f"{group}.{name}", documentation, inspect.signature(one)))

    parts.append(CLIENTS)

    for function in METHODS_OF_CLIENTS:
        documentation = inspect.getdoc(function) or ""
        parts.append(section(function.__name__, documentation, inspect.signature(function)))
    return "\n\n".join(parts) + "\n"


def safety_table() -> str:
    """Write `SAFETY` as a table; operations with the same rules share a row."""
    lines: dict[str, list[str]] = {}
    for row in SAFETY.values():
        causes = ", ".join(f"`{cause}`" for cause in get_args(FailureKind) if cause in row.retry_on)
        seen = "; else ".join(describe_proof(row, proof) for proof in row.confirmed_by)
        unseen = "changes nothing" if row.is_read else "never read back"
        if row.read_if_named is not None:
            seen = f"`{row.read_if_named}`, if a failed reply names the booking"

        name = "all reads" if row.is_read else f"`{row.operation}`"
        names = lines.setdefault(f"{row.kind} | {causes} | {seen or unseen} |", [])
        if name not in names:
            names.append(name)
    return SAFETY_HEAD + "".join(
        f"| {', '.join(names)} | {rules}\n" for rules, names in lines.items()
    )


def describe_proof(row: Safety, proof: Proof) -> str:
    """Describe how a read shows the effect of a write."""
    is_of_one = str(row.effect).startswith("tickets.")
    signs = []
    if proof.stages:
        signs.append(f"`stage` {' or '.join(f'`{one.value}`' for one in sorted(proof.stages))}")
    if proof.paid_stages:
        stages = " or ".join(f"`{one.value}`" for one in sorted(proof.paid_stages))
        signs.append(f"`stage` {stages} with `payment_status` `paid`")
    if proof.tickets:
        which = "the ticket" if is_of_one else "every ticket"
        signs.append(f"{which} `{proof.tickets.value}`")
    if proof.payment:
        signs.append(f"`payment_status` `{proof.payment.value}`")

    needed = ""
    if proof.names_ticket:
        article = "the" if is_of_one else "a"
        needed = f" with {article} ticket in it"
    return f"`{proof.read}`{needed}: {', or '.join(signs)}"


def tools_table() -> str:
    """Write the tools of each set for agents as a table."""
    sets = {'`"journey"`': {*JOURNEY}, 'only in `"all"`': TOOLS.keys() - {*JOURNEY}}
    return TOOLS_HEAD + "".join(
        f"| {name} | {tool_names(tools, reads=True)} | {tool_names(tools, reads=False)} |\n"
        for name, tools in sets.items()
    )


def tool_names(tools: AbstractSet[str], *, reads: bool) -> str:
    """List those of some tools that read, or those that write."""
    names = (name for name, tool in TOOLS.items() if name in tools and tool.is_read is reads)
    return ", ".join(f"`{name}`" for name in names)


def commands_table() -> str:
    """Write the commands of the command line as a table."""
    rows = [f"| `ferry {name}` | {command.summary} |\n" for name, command in COMMANDS.items()]
    return COMMANDS_HEAD + "".join(rows)


def assumptions_table(head: str, *, is_seen: bool) -> str:
    """Write the assumptions that a check can or cannot see as a table."""
    return head + "".join(
        f"| `{one.id}` | {one.text} | {one.probe.replace('--book', '`--book`')} |\n"
        for one in ASSUMPTIONS
        if (one.probe in PROBES) is is_seen
    )


def trials_table() -> str:
    """Write the trial routes of the local service as a table."""
    routes = load_records("trial_routes.json")["routes"]
    return TRIALS_HEAD + "".join(
        f"| `{route['arrive']}` | {route['happens']} |\n" for route in routes
    )


def json_members() -> str:
    """Write what the module of the command line's output says of its JSON, below a heading."""
    source = (ROOT / "ferry_sdk" / "cli" / "terminal" / "output.py").read_text("utf-8")
    documentation = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[2]
    paragraphs = documentation.split("\n\n")
    return JSON_HEAD + "\n\n".join(re.sub(r"\n *(?!- )", " ", one) for one in paragraphs) + "\n"


def with_table(text: str, table: str) -> str:
    """Return a page's text with a table in place of the one with the same head."""
    head = "\n".join(table.split("\n")[:2]) + "\n"
    old = text[text.index(head) :].partition("\n\n")[0]
    return text.replace(old.rstrip("\n"), table.rstrip("\n"))


def with_last_section(text: str, section: str) -> str:
    """Return a page's text with a section in place of the last one, which has the same heading."""
    heading = section.partition("\n")[0]
    return text[: text.index(heading)] + section


def with_tables(page: Path, *tables: str) -> str:
    """Return the text of a page with the present tables."""
    text = page.read_text(encoding="utf-8")
    for table in tables:
        text = with_table(text, table)
    return text


def files() -> dict[Path, str]:
    """Return the present text of each file that this script writes."""
    return {
        PAGE: page(),
        RETRIES: with_tables(RETRIES, safety_table()),
        AGENTS: with_tables(AGENTS, tools_table()),
        ASSUMED: with_tables(
            ASSUMED,
            assumptions_table(SEEN_HEAD, is_seen=True),
            assumptions_table(UNSEEN_HEAD, is_seen=False),
        ),
        COMMAND_LINE: with_last_section(
            with_tables(COMMAND_LINE, commands_table()), json_members()
        ),
        TESTING: with_tables(TESTING, trials_table()),
    }


def main(*arguments: str) -> None:
    """Write the files, or check what is there."""
    for path, text in files().items():
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} differs from the package; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What the reference shows of the library, where its source says it in another way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from griffe import (
    Alias,
    Class,
    DocstringAttribute,
    DocstringSectionAttributes,
    DocstringSectionKind,
    ExprSubscript,
    Extension,
    Function,
    Module,
    Object,
    Parameter,
    ParameterKind,
    Parameters,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERNAL = {
    "APIError": ("redact", "show"),
    "BookingSnapshot": ("differs", "of", "to_text"),
    "Clock": ("persist",),
    "Counters": ("connection", "effect", "request"),
    "Fault": ("read", "to_wire"),
    "Faults": ("about", "around", "reshape", "take"),
    "FerryError": ("redact",),
    "Journal": (
        "after_fork",
        "begin",
        "end",
        "load_orders",
        "load_departures",
        "load_snapshots",
        "save_departures",
        "save_order",
        "save_snapshot",
    ),
    "McpOptions": ("changed",),
    "Party": ("asked",),
    "Proof": ("is_confirmed_by", "is_refuted_by"),
    "Rate": ("steps",),
    "RawResponse": ("of",),
    "Records": ("from_factory",),
    "RequestLog": ("add", "show_paths"),
    "Safety": ("is_suggested_by",),
    "UnexpectedResponseError": ("redact",),
    "VoucherNotReadyError": ("show",),
}
"""Methods of public classes that only the library itself calls."""
ENDPOINT = re.compile(r"\s*\bInterface: (.+?)\.(?=\s|$)", re.DOTALL)


class PublicView(Extension):
    """Methods as a client has them, and every field of a record."""

    def on_function(self, *, func: Function, **_: Any) -> None:  # noqa: ANN401 -- griffe's own
        """Show a call's answer, not its description, and its endpoint beside its name."""
        decorators = {str(decorator.value) for decorator in func.decorators}
        if not decorators & {"method", "plan_function"}:
            return
        if isinstance(func.returns, ExprSubscript):
            func.returns = func.returns.slice
        if func.docstring and (found := ENDPOINT.search(func.docstring.value)):
            func.labels.add(" ".join(found[1].split()))
            func.docstring.value = ENDPOINT.sub("", func.docstring.value)

    def on_class(self, *, cls: Class, **_: Any) -> None:  # noqa: ANN401 -- griffe's own
        """Leave out the methods that are not for users."""
        for name in INTERNAL.get(cls.name, ()):
            if cls.members.get(name):
                cls.del_member(name)

    def on_package(self, *, pkg: Module, **_: Any) -> None:  # noqa: ANN401 -- griffe's own
        """Look at the classes once all their bases are known; a page presents its group itself."""
        for group in classes(pkg["resources"]):
            group.docstring = None
        for group in (*classes(pkg["resources"]), *classes(pkg["planning"])):
            for function in group.functions.values():
                for decorator in function.decorators:
                    found = re.fullmatch(r"with_arguments\((\w+)\)", str(decorator.value))
                    if found:
                        path = function.resolve(found[1]).removeprefix(f"{pkg.name}.")
                        show_arguments(function, pkg[path])
        for record in classes(pkg["models"]):
            if record.docstring:
                record.docstring.value = ENDPOINT.sub("", record.docstring.value)
            if "OpenEnum" in map(str, record.bases):
                list_members(record)
            else:
                list_fields(record)
        list_faults(pkg["sandbox.faults"])


def classes(package: Module) -> Iterator[Class]:
    """The classes of a package's modules, without those that they import."""
    for module in package.modules.values():
        yield from (one for one in module.classes.values() if not one.is_alias)


def show_arguments(function: Function, described: Class) -> None:
    """Give a function the arguments of a dataclass: required ones first, keywords last."""
    kinds = [ParameterKind.positional_or_keyword, ParameterKind.keyword_only]
    is_keyword = any("kw_only=True" in str(one.value) for one in described.decorators)
    is_keyword = is_keyword and "_" not in described.attributes
    fields: list[Parameter] = []
    for name, field in described.attributes.items():
        is_keyword = is_keyword or name == "_"  # what follows KW_ONLY
        is_argument = "instance-attribute" in field.labels and "init=False" not in str(field.value)
        if is_argument and name != "_":
            default = None if str(field.value).startswith("field(") else field.value
            annotation = field.annotation
            fields.append(
                Parameter(name, annotation=annotation, kind=kinds[is_keyword], default=default)
            )
    fields.sort(key=lambda one: (one.kind is kinds[1], one.default is not None))
    function.parameters = Parameters(function.parameters[0], *fields)


def list_fields(record: Class) -> None:
    """Add the fields that a record's docstring leaves to their names, in the record's order."""
    if record.docstring is None:
        return
    record.docstring.parser = "google"
    sections = record.docstring.parsed
    said = {
        one.name: one
        for section in sections
        if section.kind is DocstringSectionKind.attributes
        for one in section.value
    }
    fields = [
        said.get(name) or DocstringAttribute(name, annotation=field.annotation, description=value)
        for name, field in record.all_members.items()
        if field.is_attribute
        and "property" not in field.labels
        and not name.startswith(("_", "model_"))
        for value in [f"`{field.value}`" if name.isupper() else ""]
    ]
    sections[:] = [one for one in sections if one.kind is not DocstringSectionKind.attributes]
    if fields:
        sections.append(DocstringSectionAttributes(fields))


def list_members(enumeration: Class) -> None:
    """Show the members of an enumeration with their values and meanings, in one table."""
    rows = [
        f"| `{name}` | `{str(member.value).strip(chr(39))}` | {meaning_of(member)} |"
        for name, member in enumeration.members.items()
        if member.is_attribute
    ]
    add_table(enumeration, "| Member | Value | Meaning |\n|---|---|---|", rows)


def list_faults(package: Module) -> None:
    """Show the kinds of fault with the details that each accepts, in one table."""
    kinds = package["kinds.FaultKind"]
    rows: list[str] = []
    for member in kinds.members.values():
        if not member.is_attribute or not str(member.name).isupper():
            continue
        name, model = (part.strip("' ()") for part in str(member.value).split(","))
        if model == "McpOptions":
            details = "see `McpOptions`"
        else:
            details = details_of(package[f"kinds.{model}"])
        rows.append(f"| `{name}` | {meaning_of(member)} | {details} |")
    add_table(kinds, "| Kind | What happens | Details, with their defaults |\n|---|---|---|", rows)


def meaning_of(member: Object | Alias) -> str:
    """Return the docstring of a member in one line, and show it nowhere else."""
    meaning = " ".join(member.docstring.value.split()) if member.docstring else ""
    member.docstring = None
    return meaning


def details_of(model: Class) -> str:
    """Return the details of a fault: its model's fields, with defaults and descriptions."""
    said: dict[str, str] = {}
    for one in (model, *model.mro()):
        for section in one.docstring.parse("google") if one.docstring else ():
            if section.kind is DocstringSectionKind.attributes:
                said.update({field.name: field.description for field in section.value})
    return "<br>".join(
        f"`{name}={field.value}`: {' '.join(said[name].split())}"
        for name, field in model.all_members.items()
        if name in said
    )


def add_table(shown: Class, head: str, rows: list[str]) -> None:
    """Add a table to a docstring."""
    if shown.docstring is not None:
        shown.docstring.value += "\n\n" + "\n".join([head, *rows])

"""What the reference shows of the library, where its source says it in another way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from griffe import (
    Class,
    DocstringAttribute,
    DocstringSectionAttributes,
    DocstringSectionKind,
    ExprSubscript,
    Extension,
    Function,
    Module,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDPOINT = re.compile(r"\s*\bInterface: (.+?)\.(?=\s|$)", re.DOTALL)


class PublicView(Extension):
    """Methods as a client has them, and every field of a record."""

    def on_function(self, *, func: Function, **_: Any) -> None:  # noqa: ANN401 -- griffe's own
        """Show a call's answer, not its description, and its endpoint beside its name."""
        if not any(str(decorator.value) == "method" for decorator in func.decorators):
            return
        if isinstance(func.returns, ExprSubscript):
            func.returns = func.returns.slice
        if func.docstring and (found := ENDPOINT.search(func.docstring.value)):
            func.labels.add(" ".join(found[1].split()))
            func.docstring.value = ENDPOINT.sub("", func.docstring.value)

    def on_package(self, *, pkg: Module, **_: Any) -> None:  # noqa: ANN401 -- griffe's own
        """Look at the classes once all their bases are known; a page presents its group itself."""
        for group in classes(pkg["resources"]):
            group.docstring = None
        for record in classes(pkg["models"]):
            list_fields(record)


def classes(package: Module) -> Iterator[Class]:
    """The classes of a package's modules, without those that they import."""
    for module in package.modules.values():
        yield from (one for one in module.classes.values() if not one.is_alias)


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

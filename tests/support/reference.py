"""What the reference shows: every public class, its methods, and the functions."""

import inspect
import pkgutil
import re
from pathlib import Path

from scripts.docs_extension import INTERNAL

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGES = tuple(sorted(path.stem for path in REFERENCE.glob("*.md")))


def shown_on(page):
    """Yield what a page shows: name, object and docstring."""
    for path in re.findall(
        r"^::: (\S+)", (REFERENCE / f"{page}.md").read_text("utf-8"), re.MULTILINE
    ):
        shown = pkgutil.resolve_name(path)
        if inspect.isfunction(shown):
            yield shown.__name__, shown, inspect.getdoc(shown) or ""
        elif inspect.isclass(shown):
            texts = (inspect.getdoc(one) or "" for one in (shown, shown.__init__))
            yield shown.__name__, shown, "\n\n".join(texts)
            for name in sorted(members(shown)):
                member = getattr(shown, name)
                yield f"{shown.__name__}.{name}", member, inspect.getdoc(member) or ""


def members(cls):
    """Return the names of the members that the reference shows of a class."""
    bases = [base for base in cls.__mro__ if base.__module__.startswith("ferry_sdk")]
    names = {name for base in bases for name in vars(base) if not re.match("_|model_", name)}
    return names.difference(*(INTERNAL.get(base.__name__, ()) for base in bases))

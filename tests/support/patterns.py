"""Every regular expression of the package, and inputs that are hard for it.

Patterns with a name are found in the modules. Patterns that are written in a call of `re`, and
those that are made when they are used, are found in the source.
"""

import ast
import importlib
import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants, _parser

import ferry_sdk

ROOT = Path(ferry_sdk.__file__).parent
METHODS = frozenset({"search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})
CALL_OF_RE = re.compile(r"\bre\.\w+\(")
USE_OF_A_PATTERN = re.compile(rf"(\w+)\.({'|'.join(sorted(METHODS))})\b")
POOL = " aA1_-.,:@&#\\\"'(){[<%\nT/+=\u00e9\u0301"
ENDS = "", "\n\x00"
SAMPLES = {"category_space": " ", "category_digit": "1", "category_word": "a"}


@dataclass(frozen=True)
class Use:
    """A pattern of a module, and one way in which the package uses it."""

    place: str
    pattern: re.Pattern
    method: str

    def run(self, text):
        if isinstance(self.pattern.pattern, bytes):
            text = text.encode()
        if self.method in {"sub", "subn"}:
            replacement = b"" if isinstance(text, bytes) else ""
            return getattr(self.pattern, self.method)(replacement, text)
        result = getattr(self.pattern, self.method)(text)
        return [*result] if self.method == "finditer" else result

    def inputs(self):
        """Yield functions that make a hard input of any length."""
        known = _characters(_parser.parse(self.pattern.pattern, self.pattern.flags))
        beginning = _sample(_parser.parse(self.pattern.pattern, self.pattern.flags))
        singles = list(dict.fromkeys([*known, *POOL]))
        pairs = ["".join(pair) for pair in product(singles[:4], singles[:4])]
        units = dict.fromkeys([*singles, *pairs, beginning or "a", beginning[:-1] or "a"])
        begins = {"", beginning, beginning[:-1], beginning[: len(beginning) // 2]}
        for begin, unit, end in product(sorted(begins), units, ENDS):
            yield (
                lambda n, parts=(begin, unit, end): (
                    parts[0] + parts[1] * (n // len(parts[1])) + parts[2]
                )
            )


@cache
def modules_with_patterns():
    """Return the names of the modules that call `re`, without importing them."""
    return [_name_of(path) for path, text in _sources().items() if CALL_OF_RE.search(text)]


def _name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(["ferry_sdk", *parts]).removesuffix(".__init__")


def named_patterns(module_name):
    """Return the compiled patterns of a module and its classes, by name and number.

    There are none if the module needs an extra that is not installed.
    """
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if "an extra: pip install" in str(error):
            return {}
        raise

    holders = [("", vars(module))]
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module_name:
            holders.append((f"{name}.", vars(value)))

    found = {}
    for prefix, members in holders:
        for name, value in members.items():
            for number, pattern in enumerate(_patterns_in(value)):
                found[f"{prefix}{name}", number] = pattern
    return found


def _patterns_in(value):
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return [one for one in value if isinstance(one, re.Pattern)]
    return []


@cache
def _sources():
    """Return the text of each module of the package by its path."""
    return {path: path.read_text() for path in sorted(ROOT.rglob("*.py"))}


@cache
def calls_of_re(module_name):
    """Return each call of `re` in the source of a module: its function and its node."""
    (source,) = (text for path, text in _sources().items() if _name_of(path) == module_name)
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            function = ast.unparse(node.func).removeprefix("re.")
            if function in {*METHODS, "compile"} and node.args:
                found.append((function, node))
    return found


@cache
def methods_by_name():
    """Return how names of patterns are used anywhere in the package: names to methods."""
    used = {}
    for text in _sources().values():
        for name, method in USE_OF_A_PATTERN.findall(text):
            used.setdefault(name, set()).add(method)
    return used


def _characters(parsed):
    """Yield characters that a pattern names, one of each class."""
    for kind, value in parsed:
        if kind is _constants.LITERAL or kind is _constants.NOT_LITERAL:
            yield chr(value)
        elif kind is _constants.IN:
            yield from _members(value)
        elif kind in {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}:
            yield from _characters(value[2])
        elif kind is _constants.SUBPATTERN:
            yield from _characters(value[3])
        elif kind is _constants.BRANCH:
            for branch in value[1]:
                yield from _characters(branch)
        elif kind in {_constants.ASSERT, _constants.ASSERT_NOT}:
            yield from _characters(value[1])
        elif kind is _constants.ATOMIC_GROUP:
            yield from _characters(value)


def _members(members):
    for kind, value in members:
        if kind is _constants.LITERAL:
            yield chr(value)
        elif kind is _constants.RANGE:
            yield chr(value[0])
            yield chr(value[1])
        elif kind is _constants.CATEGORY:
            yield SAMPLES.get(str(value).lower(), "-")


def _sample(parsed):
    """Return a text that a pattern is likely to match."""
    text = ""
    for kind, value in parsed:
        if kind is _constants.LITERAL:
            text += chr(value)
        elif kind is _constants.ANY or kind is _constants.NOT_LITERAL:
            text += "a"
        elif kind is _constants.IN:
            is_negated = value[0][0] is _constants.NEGATE
            text += "a" if is_negated else next(iter(_members(value)), "a")
        elif kind in {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}:
            text += _sample(value[2]) * max(1, value[0])
        elif kind is _constants.SUBPATTERN:
            text += _sample(value[3])
        elif kind is _constants.BRANCH:
            text += _sample(value[1][0])
    return text

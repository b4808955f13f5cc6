"""Text of the service costs time linear in its length: every pattern, feed loop and text function.

A pattern that is added to the package is found here by itself; one that is made of a text when it
is used needs an example in `MADE_WHEN_USED`.
"""

import ast
import re
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferry_sdk._engine.http import Headers, Reply, parse_date
from ferry_sdk._engine.redaction import Redactor, _patterns_of, _words_of, one_line
from ferry_sdk._protocols.error_responses import api_error, retry_after
from ferry_sdk._protocols.json_body import decode_or_text
from ferry_sdk._protocols.mcp.jsonrpc import EventStream, ReplyListener
from ferry_sdk._protocols.mcp.lost_session import is_lost
from ferry_sdk._protocols.mcp.post import JsonRpcReply
from ferry_sdk._protocols.mcp.results import tool_value
from ferry_sdk.agents.tools.arguments import _MONEY, _TIME
from ferry_sdk.agents.tools.sanitize import _PATTERNS, clean_text
from ferry_sdk.cli.terminal.output import printable
from ferry_sdk.errors import FerryError
from ferry_sdk.models.base import path_text
from ferry_sdk.notebook.html import escape_value, image, link
from ferry_sdk.planning.names import fold
from tests.support.growth import grows_faster_than_linear
from tests.support.patterns import (
    Use,
    calls_of_re,
    methods_by_name,
    modules_with_patterns,
    named_patterns,
)

TRAVELLER = ["Zoe", "de la Cruz", "Müller", "1980-03-02", "XD998877", "zoe@mail.example", "王小明"]
MORE_LETTERS = ["zoemailexample", "2"]
REDACTION = _patterns_of(TRAVELLER, letters="".join([*_words_of(TRAVELLER), *MORE_LETTERS]))
MADE_WHEN_USED = {
    ("ferry_sdk._engine.redaction", "finditer"): ["|".join(REDACTION)],
    ("ferry_sdk.agents.tools.sanitize", "fullmatch"): [
        text_form.pattern for text_form in _PATTERNS.values()
    ],
    ("ferry_sdk.agents.tools.arguments", "fullmatch"): [_TIME, _MONEY],
    ("ferry_sdk.sandbox.requests.fields", "fullmatch"): [
        r"[\s\S]*[^ \t][\s\S]*",
        r"[^@ ]+@[^@ ]+",
        r"[^ ]+?__[^ ]+",
    ],
}
"""Examples of the patterns that are made when they are used, by module and function."""


def uses_in(module):
    methods = methods_by_name()
    for (name, number), pattern in named_patterns(module).items():
        for method in sorted(methods.get(name.rpartition(".")[2], {"search", "fullmatch"})):
            yield Use(f"{name}[{number}].{method}", pattern, method)

    for function, node in calls_of_re(module):
        if function == "compile":
            continue
        pattern = node.args[0]
        if isinstance(pattern, ast.Constant):
            texts = [pattern.value]
        else:
            texts = MADE_WHEN_USED[module, function]
        for text in texts:
            yield Use(f"line {node.lineno}.{function}", re.compile(text), function)


def is_slow(use):
    return any(grows_faster_than_linear(use.run, make) for make in use.inputs())


@pytest.mark.parametrize("module", modules_with_patterns())
def test_patterns_of_a_module_take_linear_time(module):
    assert [use.place for use in uses_in(module) if is_slow(use)] == []


@pytest.mark.parametrize("module", modules_with_patterns())
def test_every_compiled_pattern_is_found(module):
    compiled = [node for function, node in calls_of_re(module) if function == "compile"]
    assert len(compiled) <= len(named_patterns(module))


@pytest.mark.parametrize(
    ("pattern", "method", "expected"),
    [
        (r"\s*\n\s*", "sub", True),
        (r"T.*(Z|\d)$", "search", True),
        (r"\s+", "sub", False),
        (r"[a-z]+", "findall", False),
    ],
)
def test_a_slow_pattern_would_be_noticed(pattern, method, expected):
    assert is_slow(Use("", re.compile(pattern), method)) is expected


HEAD = Reply(200, Headers([("content-type", "text/event-stream")]))


def feed(pieces):
    stream, listener = EventStream(), ReplyListener("ferry-1")
    for piece in pieces:
        list(stream.feed(piece))
        listener.feed(HEAD, piece)
    listener.finish()
    return [*stream.finish()]


STREAMS = {
    "a line in pieces": lambda n: [b"data: ", *[b"x" * 256] * n, b"\n\n"],
    "a line in bytes": lambda n: [b"data: ", *[b"x"] * n, b"\n\n"],
    "a comment in pieces": lambda n: [b":", *[b"x" * 256] * n, b"\n\n"],
    "lines of one event": lambda n: [b"data: x\n"] * n,
    "empty lines of data": lambda n: [b"data\n" * n],
    "events in one piece": lambda n: [b"data: {}\n\n" * n],
    "events in pieces": lambda n: [b"data: {}", b"\n\n"] * n,
    "carriage returns": lambda n: [b"\r"] * n,
    "line ends in halves": lambda n: [b"data: x\r", b"\n\r", b"\n"] * n,
    "batches": lambda n: [b"data: [" + b"{}," * n + b"{}]\n\n"],
}


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_event_stream_takes_linear_time(make):
    assert not grows_faster_than_linear(feed, make)


@pytest.mark.parametrize("line", [b"x", b"xx", b"data:\n", b"data:y\n"])
def test_event_stream_holds_little_more_than_bytes(line):
    stream, pieces = EventStream(), 20_000
    tracemalloc.start()
    for _ in range(pieces):
        list(stream.feed(line))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * pieces * len(line) + 10_000


def refused(words):
    return tool_value_or_error({"content": [{"type": "text", "text": words}], "isError": True})


def tool_value_or_error(result):
    try:
        return tool_value(result, HEAD, gives_list=False)
    except FerryError as error:
        return error


def body_of_texts(words):
    half = len(words) // 2
    texts = [words[:half], words[half:], "{}"]
    return tool_value_or_error({"content": [{"type": "text", "text": text} for text in texts]})


FUNCTIONS = {
    "show": Redactor(["token-1234567890"], TRAVELLER).show,
    "one_line": one_line,
    "api_error": lambda words: api_error(HEAD, {"message": words, "code": words, "field": words}),
    "retry_after": lambda words: retry_after({"retry-after": words, "date": words}),
    "parse_date": parse_date.__wrapped__,
    "decode_or_text": lambda words: decode_or_text(words.encode("utf-8", "replace")),
    "is_lost": lambda words: is_lost(JsonRpcReply(HEAD, {"error": {"message": words}}, None), "s"),
    "refused": refused,
    "body_of_texts": body_of_texts,
    "clean_text": lambda words: clean_text(words, 600),
    "printable": printable,
    "escape_value": escape_value,
    "link": lambda words: link(f"https://{words}", words),
    "image": lambda words: image(f"data:image/png;base64,{words}", words),
    "fold": fold.__wrapped__,
    "path_text": lambda words: path_text(tuple(words)),
}
"""What is done with the service's words, also on the way of an error."""
WORDS = {
    "spaces": lambda n: "a" + " " * 8 * n + "\x01b",
    "spaces and breaks": lambda n: " \n" * 4 * n,
    "entities": lambda n: "&#77;" * 2 * n,
    "a long entity": lambda n: "&#" + "1" * 8 * n,
    "percent signs": lambda n: "%25" * 2 * n,
    "escapes": lambda n: "\\ud83d" * n,
    "at signs": lambda n: "a@a." * 2 * n,
    "marks": lambda n: "a" + "\u0301\u0323" * 4 * n,
    "braces": lambda n: "{" * 4 * n + "}" * 4 * n,
    "brackets": lambda n: "[" * 8 * n,
    "digits": lambda n: "1" * 8 * n,
    "words": lambda n: "session " * 2 * n,
    "colons": lambda n: "error: " * 2 * n,
    "commas": lambda n: "1," * 4 * n,
}


@pytest.mark.parametrize("make", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_words_of_the_service_take_linear_time(function, make):
    assert not grows_faster_than_linear(function, make)


@given(st.text(max_size=200))
@example("1" * 5000)
@example("Mon, 99 Foo 99999999999999999999 99:99:99 +99999999")
def test_any_header_of_time_is_read_or_left(text):
    assert parse_date(text) is None or isinstance(parse_date(text), float)
    seconds = retry_after({"retry-after": text, "date": text})
    assert seconds is None or seconds >= 0

import ast
import re
from pathlib import Path
from string import Formatter

from offline_service import OfflineService

import ferry_sdk.sandbox
from ferry_sdk.sandbox.requests.errors import LANGUAGES, language_of, messages, text
from tests.support.tables import each

PACKAGE = Path(ferry_sdk.sandbox.__file__).parent


def placeholders(message):
    return {name for _, name, _, _ in Formatter().parse(message) if name}


@each("language", LANGUAGES)
def test_every_language_has_the_same_messages_and_placeholders(language):
    english = messages("en")
    said = messages(language)
    assert list(said) == list(english)
    for key, message in said.items():
        assert placeholders(message) == placeholders(english[key]), key


def test_every_message_is_translated():
    for key, message in messages("en").items():
        same = [each for each in LANGUAGES[1:] if messages(each)[key] == message]
        assert not same or key == "label_commission", (key, same)


def test_greek_and_arabic_use_their_scripts():
    for key in messages("en"):
        assert re.search("[\u0370-\u03ff]", messages("el")[key]), key
        assert re.search("[\u0600-\u06ff]", messages("ar")[key]), key


def test_every_message_is_used():
    used = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
    assert set(messages("en")) <= used


@each(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("fr", "fr"),
        ("FR-ca", "fr"),
        ("de", "en"),
        ("de, it;q=0.4", "it"),
        ("fr;q=0.2, es;q=0.8", "es"),
        ("fr;q=0.5, es;q=0.5", "fr"),
        ("es;q=0.5, fr;q=0.5", "es"),
        ("fr;q=0, *", "en"),
        ("en;q=0, *", "fr"),
        ("*", "en"),
        ("it;q=0", "en"),
        ("el;q=nonsense, ar;q=0.1", "ar"),
        ("el;q=1.5, ar;q=0.1", "ar"),
        (" ar ; q=0.9 , en ; q=0.8 ", "ar"),
        (";;,,q=1", "en"),
    ],
)
def test_the_preferred_supported_language_is_chosen(header, language):
    assert language_of(header) == language


def test_values_fill_the_placeholders_of_a_message():
    assert text("choice", "fr", {"expected": "M, F"}).endswith(": M, F.")


@each("language", LANGUAGES)
def test_an_error_is_in_the_callers_language(language):
    error = OfflineService().error_of("bookings.get", id="nowhere", language=language)
    assert error.message == f"id: {messages(language)['booking_unknown']}"

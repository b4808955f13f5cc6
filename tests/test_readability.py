"""The figures of `scripts/readability` count what they say."""

import pytest

from scripts.readability import main, read, rows_of_package, rows_of_tests

CALL = "call(1, 2, 3, 4, 5)\n"
LONG = "def long():\n" + "    call()\n" * 12
DIVIDED = "def divided():\n" + "    call()\n" * 6 + "\n" + "    call()\n" * 6


def sources(folder, text):
    """The files of a package of one module with this text."""
    (folder / "module.py").write_text(text)
    return read(folder)


@pytest.mark.parametrize(
    ("text", "name", "figure"),
    [
        pytest.param(
            f'"""Docstring."""\n\n# Comment\n{CALL}', "comments", "1000.0", id="docstring"
        ),
        pytest.param(f"# Comment\n{CALL}", "comments", "1000.0", id="comment"),
        pytest.param(f"{CALL[:-1]}  # noqa: F821\n", "comments", "0.0", id="directive"),
        pytest.param(
            LONG, "long functions without a blank line or comment", "100 %", id="unbroken"
        ),
        pytest.param(
            LONG + DIVIDED, "long functions without a blank line or comment", "50 %", id="divided"
        ),
        pytest.param(
            CALL, "calls with five or more positional arguments", "1000.0", id="positional"
        ),
        pytest.param("call(*names)\n", "calls with `*name`", "1000.0", id="name"),
        pytest.param("call(*args)\n", "calls with `*name`", "0.0", id="own arguments"),
        pytest.param("a if b else c\n", "conditional expressions", "1000.0", id="conditional"),
        pytest.param("[a for a in b]\n", "comprehensions", "1000.0", id="comprehension"),
        pytest.param("[a for a in b]\n", "nested comprehensions", "0.0", id="one loop"),
        pytest.param("[a for b in c for a in b]\n", "nested comprehensions", "1000.0", id="two"),
        pytest.param("lambda: 1\n", "lambdas", "1000.0", id="lambda"),
        pytest.param("map(str, a)\n", "`map` and `filter`", "1000.0", id="map"),
        pytest.param("a, b = 1, 2\n", "`a, b = x, y`", "1000.0", id="pair"),
    ],
)
def test_figure_of_a_package(tmp_path, text, name, figure):
    assert dict(rows_of_package(sources(tmp_path, text)))[name] == figure


@pytest.mark.parametrize(
    ("text", "name", "figure"),
    [
        pytest.param("def test_a(): ...\ndef other(): ...\n", "tests", "1", id="tests"),
        pytest.param(
            "def test_a():\n    for a in b: ...\n", "tests with a `for` loop", "100 %", id="loop"
        ),
        pytest.param(
            "def test_a_and_b(): ...\n", "tests whose names have `and`", "100 %", id="and"
        ),
        pytest.param("def test_a_b(): ...\n", "words in a test's name, median", "2", id="words"),
        pytest.param("call(*(1, 2))\n", "stars over literals", "1", id="star"),
    ],
)
def test_figure_of_tests(tmp_path, text, name, figure):
    assert dict(rows_of_tests(sources(tmp_path, text)))[name] == figure


def test_help_names_the_folders(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "[package] [tests]" in printed
    assert "The figures show places to look at." in printed


def test_folders_of_another_project_are_read(tmp_path, capsys):
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text(CALL)
    main([str(package), str(tmp_path / "tests")])
    assert "1000.0  calls with five or more positional arguments" in capsys.readouterr().out

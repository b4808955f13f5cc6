"""What `scripts/mutate` knows of the modules and their tests is up to date."""

import ast

from scripts.mutate import ROOT, TESTS, equivalents
from scripts.mutations import mutations_of
from tests.support.tables import each


@each("module", TESTS)
def test_a_module_and_its_tests_are_where_they_are_said_to_be(module):
    assert (ROOT / "ferry_sdk" / f"{module}.py").is_file()
    assert all((ROOT / test).is_file() for stage in TESTS[module] for test in stage)


def test_what_is_listed_as_equivalent_can_still_be_made():
    made = {
        one.key
        for module in TESTS
        for one in mutations_of(ROOT / "ferry_sdk" / f"{module}.py", module)
    }
    assert equivalents().keys() <= made
    assert all(equivalents().values())


def test_a_mutation_is_a_piece_of_source_in_another_s_place(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        'K = Literal["open"]\n'
        "def f(a: int) -> str:\n    assert a > 0\n    if a < 1 and not b:\n        raise é\n"
        "    return x\n"
        "def g():\n    c = a or (yield from b)\n"
    )
    changes = {one.change: one.applied(path.read_text()) for one in mutations_of(path, "module")}
    assert changes.keys() == {
        "a < 1 and not b -> (a < 1 or not b)",
        "a < 1 -> a <= 1",
        "1 -> (1 + 1)",
        "not b -> (b)",
        "raise é -> pass",
        "return x -> return None",
        "a or (yield from b) -> (a and (yield from b))",
    }
    assert all(ast.parse(change) for change in changes.values())
    assert "        pass\n    return x\n" in changes["raise é -> pass"]

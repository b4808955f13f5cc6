"""What `scripts/mutate` knows of the modules and their tests is up to date."""

import pytest

from scripts.mutate import ROOT, TESTS, equivalents
from scripts.mutations import mutations_of


@pytest.mark.parametrize("module", TESTS)
def test_tests_of_a_module_are_files(module):
    for stage in TESTS[module]:
        assert [test for test in stage if not (ROOT / test).is_file()] == []


@pytest.mark.slow
def test_equivalent_mutations_can_be_made():
    keys = set()
    for module in TESTS:
        path = ROOT / "ferry_sdk" / f"{module}.py"
        keys |= {mutation.key for mutation in mutations_of(path, module)}
    assert equivalents().keys() <= keys


def test_equivalent_mutation_has_a_reason():
    assert all(equivalents().values())

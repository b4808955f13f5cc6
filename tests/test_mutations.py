"""What `scripts/mutate` knows of the modules and their tests is up to date."""

from scripts.mutate import ROOT, TESTS, equivalents
from scripts.mutations import mutations_of


def test_the_modules_their_tests_and_the_equivalent_mutations_are_where_they_are_said_to_be():
    made = set()
    for module, stages in TESTS.items():
        path = ROOT / "ferry_sdk" / f"{module}.py"
        assert all((ROOT / test).is_file() for stage in stages for test in stage), module
        made |= {one.key for one in mutations_of(path, module)}
    assert equivalents().keys() <= made
    assert all(equivalents().values())

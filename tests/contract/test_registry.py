"""What is registered is what the catalogue says."""

from inspect import signature

import pytest

from edgesvm import catalogue
from edgesvm.catalogue import CATALOGUE, FAMILIES, MODULE_OF, commands
from edgesvm.contract.registry import LEARNERS, OTHERS, also_loaded, kind_of, registered
from edgesvm.errors import CorruptModelError

WORDS = ("kernel", "n_classes", "class_weight")


def test_the_learners_are_those_of_the_catalogue():
    families = {*FAMILIES} - {"drift", "windows", "series", "base"}
    named = {e.name for e in CATALOGUE if e.family in families and e.name[0].isupper()}
    assert LEARNERS.keys() == named, "a learner has an Entry in edgesvm/catalogue.py"


@pytest.mark.parametrize("entry", CATALOGUE, ids=[entry.name for entry in CATALOGUE])
def test_an_entry_says_what_its_class_is(entry):
    assert entry.family in FAMILIES
    if entry.name in LEARNERS:
        kind = kind_of(entry.name)
        accepted = signature(kind).parameters
        assert kind.__module__ == MODULE_OF[entry.name]
        assert entry.takes.split() == [name for name in WORDS if name in accepted], entry.name
        assert bool(entry.weights) == kind.takes_labels
        assert (entry.family == "regressor") == (kind.regresses is True)
        if entry.family != "regressor":
            assert (entry.family == "plane") == hasattr(kind, "coef_")
        by_place = [name for name, p in accepted.items() if p.kind is not p.KEYWORD_ONLY]
        assert by_place == ["learner"] * ("learner" in accepted)


def test_names_on_the_command_line_are_unique():
    apart = "multiclass", "regressor", "novelty", "drift"
    for families in (catalogue.LEARNERS, *((family,) for family in apart)):
        named = [entry.command for entry in CATALOGUE if entry.family in families]
        assert len(commands(*families)) == len([name for name in named if name])


def test_what_is_no_learner_has_names_of_its_own():
    assert {name: list(signature(kind).parameters) for name, kind in OTHERS.items()} == {
        "WindowFeatures": ["window", "hop", "rate", "bands", "features", "dtype"],
        "ClockFeatures": ["dtype"],
        "Chain": ["windows", "learner", "label"],
        "VirtualSensor": ["target", "regressor", "learner"],
    }
    assert all(kind_of(name) is kind for name, kind in OTHERS.items())
    assert not LEARNERS.keys() & OTHERS.keys()
    for decorator in (registered, also_loaded):
        for name in ("Chain", "StreamSVM"):
            with pytest.raises(ValueError, match=f"named '{name}' is already registered"):
                decorator(type(name, (), {}))


def test_an_unknown_name_is_a_snapshot_of_another_release():
    with pytest.raises(CorruptModelError, match="'Nope', which this release does not know"):
        kind_of("Nope")

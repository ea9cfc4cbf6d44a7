"""The hashes that `make arm` compares with are those of the learners as they are."""

from arena_hashes import FILE, NOVELTY, REGISTERED, lines

from edgesvm.contract.registry import LEARNERS


def test_every_learner_has_hashes():
    kinds = {kind for entry in REGISTERED for kind in entry.family if kind}
    kinds.update(kind for kind, _ in NOVELTY.values())
    assert {kind.__name__ for kind in kinds} == {*LEARNERS}


def test_the_list_is_current():
    assert lines() == FILE.read_text().splitlines(), (
        "if a learner was added, or changed on purpose:"
        " python tests/conformance/arena_hashes.py --write"
    )

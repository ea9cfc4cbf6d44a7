"""Every answer of a step that refuses a sample has a text, and each text says what was wrong."""

import pickle

from each import each

from edgesvm import errors
from edgesvm.core.status import Status

LEARNED = {Status.UNCHANGED, Status.CHANGED}


def test_every_refusal_has_a_text_and_no_other_status_has():
    assert set(errors.REFUSALS) == set(Status) - LEARNED


@each("status", sorted(set(Status) - LEARNED), ids=lambda s: Status(s).name)
def test_refusal_names_the_sample(status):
    error = errors.refusal(status, "row 7", "float32", ["cold", "hot"])
    assert isinstance(error, ValueError)
    problem = "does not fit: " if status == Status.FULL else "has a "
    assert str(error).startswith(f"row 7 {problem}")
    assert "{" not in str(error)


def test_budget_error_survives_pickling():
    error = pickle.loads(pickle.dumps(errors.MemoryBudgetError("too small", 100, 99)))
    assert (str(error), error.required, error.available) == ("too small", 100, 99)


def test_one_except_clause_catches_every_bad_snapshot():
    assert issubclass(errors.FormatVersionError, errors.CorruptModelError)
    assert issubclass(errors.CorruptModelError, ValueError)
    assert issubclass(errors.LinkDown, OSError)
    assert issubclass(errors.NotFittedError, AttributeError)

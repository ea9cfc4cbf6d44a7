"""Values in a loop are all tried, and the one that fails is named."""

import inspect

import pytest
from each import each, each_of


def test_every_combination_is_tried():
    seen = []

    @each("n", range(2))
    @each("name, other", [("a", 1), ("b", 2)])
    def check(name, n, other, fixture):
        seen.append((n, name, other, fixture))

    assert list(inspect.signature(check).parameters) == ["fixture"]
    check(fixture=7)
    assert seen == [(0, "a", 1, 7), (0, "b", 2, 7), (1, "a", 1, 7), (1, "b", 2, 7)]


def test_the_value_that_fails_is_named():
    @each("n", [1, 2, 3])
    @each("kind", [int, float], ids=lambda kind: kind.__name__)
    def check(n, kind):
        assert n < 2 or kind is int

    with pytest.raises(AssertionError, match="n = 2") as caught:
        check()
    assert str(caught.value.__cause__) == "with kind = float"


def test_the_values_of_a_fixture_are_all_tried_and_the_one_that_fails_is_named(tmp_path):
    seen = []

    @each_of("n")
    @each("name", "ab")
    def check(n, name, tmp_path):
        (tmp_path / "file").touch(exist_ok=False)
        seen.append((n, name))
        assert (n, name) != (3, "a")

    assert list(inspect.signature(check).parameters) == ["tmp_path", "every_n"]
    check(every_n=[1, 2], tmp_path=tmp_path)
    assert seen == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    (tmp_path / "more").mkdir()
    with pytest.raises(AssertionError, match="n = 3") as caught:
        check(every_n=[1, 3], tmp_path=tmp_path / "more")
    assert str(caught.value.__cause__) == "with name = 'a'"
    with pytest.raises(ValueError, match="check nothing"):
        check(every_n=[], tmp_path=tmp_path)


def test_it_is_skipped_if_every_value_is():
    @each("n", [1, 2])
    def check(n, least):
        if n < least:
            pytest.skip("too few")
        assert n < 2

    with pytest.raises(AssertionError, match="n = 2"):
        check(least=2)
    with pytest.raises(pytest.skip.Exception, match="too few"):
        check(least=3)


def test_no_value_is_a_mistake():
    with pytest.raises(ValueError, match="check nothing"):
        each("n", [])

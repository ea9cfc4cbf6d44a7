"""Parameters as they are given: what each check takes, and that it names what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from each import each

from edgesvm import RBF, Polynomial
from edgesvm.contract.params import flag, not_negative, one_of, positive, whole


@each("value", [1, 64, np.int8(7), np.uint64(9)])
def test_whole_numbers(value):
    assert whole("n", value, 1, 64) == value
    assert type(whole("n", value, 1, 64)) is int


@each("value", [0, 65, -1, 2.0, 2.5, np.float32(2), np.nan, np.inf, "3", None, 2**70, [1], 1j])
def test_what_is_no_whole_number_in_range(value):
    with pytest.raises(ValueError) as caught:
        whole("n", value, 1, 64)
    assert str(caught.value) == f"n={value!r}: give an integer from 1 to 64"


@each("value", [1, 1e-30, 1e30, np.float32(0.5), np.int16(3), Fraction(1, 3)])
def test_numbers(value):
    assert positive("C", value) == not_negative("C", value) == float(value)
    assert type(positive("C", value)) is float


@each("value", [-1, -5e-324, np.nan, np.inf, -np.inf, 1.1e30, 10**400, "1", None, 1j, [1.0]])
def test_what_is_no_finite_number(value):
    for check in (positive, not_negative):
        with pytest.raises(ValueError, match=r"C=.*: give a number >"):
            check("C", value)


@each("value", [5e-324, 1e-300, 9.9e-31])
def test_products_with_a_positive_number_do_not_vanish(value):
    assert not_negative("C", value) == value
    with pytest.raises(ValueError, match=r"from 1e-30 to 1e\+30"):
        positive("C", value)


def test_zero_is_not_positive():
    assert not_negative("coef0", 0) == not_negative("coef0", -0.0) == 0.0
    for zero in (0, 0.0, -0.0):
        with pytest.raises(ValueError, match=r"gamma=.*> 0"):
            positive("gamma", zero)


@each("value", ["c", "", None, 1, ["a"], np.array(["a", "b"]), np.dtype("f4")])
def test_names(value):
    assert one_of("kind", "b", "a", "b") == "b"
    with pytest.raises(ValueError, match=r"kind=.*give 'a' or 'b'"):
        one_of("kind", value, "a", "b")


@each(
    "kernel, name",
    [
        (lambda: RBF("1"), "gamma='1'"),
        (lambda: Polynomial(2.5), "degree=2.5"),
        (lambda: Polynomial("3"), "degree='3'"),
        (lambda: Polynomial(65), "degree=65"),
        (lambda: Polynomial(2, None), "gamma=None"),
        (lambda: Polynomial(2, 1.0, -1.0), "coef0=-1.0"),
    ],
)
def test_kernels_name_their_parameters(kernel, name):
    with pytest.raises(ValueError, match=name):
        kernel()


@pytest.mark.parametrize("value", [True, np.True_])
def test_true_and_false(value):
    assert flag("normalize", value) is True and flag("normalize", not value) is False


@each("value", [1, 0.0, "no", "True", None, np.array([True])])
def test_what_is_neither(value):
    with pytest.raises(ValueError) as caught:
        flag("normalize", value)
    assert str(caught.value) == f"normalize={value!r}: give True or False"

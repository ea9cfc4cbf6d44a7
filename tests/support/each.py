"""Many values in one test item: `each` reads as `pytest.mark.parametrize`, and costs one item."""

import functools
import inspect

import pytest


def first_of(values):
    """For `pytest.mark.parametrize`: the first value, and in the long run the others."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.long) for value in others)]


def each(names, values, ids=None):
    """Run the test once for each of `values`; a failure says which one it was.

    `names` is one argument of the test, or several separated by commas, for which each value is a
    tuple. `ids` gives the values' names where their `repr` says little: a sequence, or a function.
    Decorators above one another give every combination. Fixtures are set up once for all values;
    of `tmp_path` each value has a folder of its own.
    """
    names = [name.strip() for name in names.split(",")]
    values = list(values)
    if not values:
        raise ValueError(f"no values for {', '.join(names)}: the test would check nothing")
    shown = list(map(ids or repr, values)) if ids is None or callable(ids) else list(ids)

    def decorate(test):
        parameters = inspect.signature(test).parameters

        @functools.wraps(test)
        def every(**fixtures):
            for i, (value, name) in enumerate(zip(values, shown, strict=True)):
                arguments = dict(zip(names, value if len(names) > 1 else [value], strict=True))
                if "tmp_path" in fixtures:
                    arguments["tmp_path"] = fixtures["tmp_path"] / str(i)
                    arguments["tmp_path"].mkdir()
                try:
                    test(**(fixtures | arguments))
                except Exception as error:
                    raise AssertionError(f"with {', '.join(names)} = {name}") from error

        left = [parameter for name, parameter in parameters.items() if name not in names]
        every.__signature__ = inspect.Signature(left)
        return every

    return decorate

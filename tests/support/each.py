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
    values = some(names, values)
    shown = list(map(ids or repr, values)) if ids is None or callable(ids) else list(ids)

    def decorate(test):
        def every(**fixtures):
            rows = [value if len(names) > 1 else [value] for value in values]
            try_all(test, names, rows, shown, fixtures)

        return with_arguments(every, test, without=names)

    return decorate


def each_of(name, **made):
    """`each`, with the values of the fixture `every_<name>`, which are known when the test runs.
    `made` are functions of the value; what they return are further arguments of the test.
    """
    source = f"every_{name}"

    def decorate(test):
        taken = inspect.signature(test).parameters

        def one(**arguments):
            arguments |= {key: make(arguments[name]) for key, make in made.items()}
            test(**{key: of for key, of in arguments.items() if key in taken})

        def every(**fixtures):
            values = some([name], fixtures.pop(source))
            try_all(one, [name], [[value] for value in values], map(str, values), fixtures)

        return with_arguments(every, test, without=[name, *made], more=[source])

    return decorate


def some(names, values):
    """The values as a list, of which there is at least one."""
    values = list(values)
    if not values:
        raise ValueError(f"no values for {', '.join(names)}: the test would check nothing")
    return values


def try_all(test, names, rows, shown, fixtures):
    """Call `test` with each row of values, all with the same fixtures; skipped only if all are."""
    skipped = []
    for i, (row, name) in enumerate(zip(rows, shown, strict=True)):
        arguments = dict(zip(names, row, strict=True))
        if "tmp_path" in fixtures:
            arguments["tmp_path"] = fixtures["tmp_path"] / str(i)
            arguments["tmp_path"].mkdir()
        try:
            test(**(fixtures | arguments))
        except pytest.skip.Exception as why:
            skipped.append(why)
        except Exception as error:
            raise AssertionError(f"with {', '.join(names)} = {name}") from error
    if len(skipped) == len(rows):
        raise skipped[0]


def with_arguments(every, test, without, more=()):
    """`every` under the name of `test`, as a test whose fixtures are other ones."""
    functools.update_wrapper(every, test)
    parameters = inspect.signature(test).parameters
    left = [parameter for name, parameter in parameters.items() if name not in without]
    new = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in more]
    every.__signature__ = inspect.Signature([*left, *new])
    return every

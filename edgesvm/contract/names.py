"""Names of the features: the columns of a DataFrame. They are kept with what was learned, and a
later DataFrame must have the same ones in the same order. The messages are scikit-learn's.

And the words of labels that links and journals have as numbers, the places in a list of words.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Names = tuple[str, ...] | None
MOST_SHOWN = 5


def names_of(X: Any) -> Names:
    """The column names of a DataFrame (pandas, polars); None if it has none, or not only strings.

    Raises
    ------
    TypeError
        Some names are strings, others are not.
    """
    columns = None if isinstance(X, np.ndarray) else getattr(X, "columns", None)
    if not isinstance(columns, Iterable):
        return None
    names = tuple(columns)
    kinds = {type(name).__name__ for name in names}
    if "str" in kinds and len(kinds) > 1:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but the"
            f" input has {sorted(kinds)} as feature name / column name types"
        )
    return names if kinds == {"str"} else None


def check_names(names: Names, known: Names, owner: str) -> None:
    """Check names of rows against the `known` ones of the rows learned; warn if only one of them
    has names.

    Raises
    ------
    ValueError
        They differ, or have another order.
    """
    if names == known:
        return
    if known is None:
        warnings.warn(
            f"X has feature names, but {owner} was fitted without feature names", stacklevel=4
        )
    elif names is None:
        warnings.warn(
            f"X does not have valid feature names, but {owner} was fitted with feature names",
            stacklevel=4,
        )
    else:
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            + difference(set(names), set(known))
        )


def difference(names: set[str], known: set[str]) -> str:
    unseen, missing = sorted(names - known), sorted(known - names)
    parts = ("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)
    told = "".join(f"Feature names {what}:\n{listed(some)}" for what, some in parts if some)
    return told or "Feature names must be in the same order as they were in fit.\n"


def listed(names: list[str]) -> str:
    shown = [*names[:MOST_SHOWN], "..."] if len(names) > MOST_SHOWN else names
    return "".join(f"- {name}\n" for name in shown)


def word_of(words: Sequence[str], number: Any) -> Any:
    """The label that a number stands for: itself if there are no words.

    Examples
    --------
    >>> word_of(["fine", "worn"], 1), word_of([], 1), word_of(["fine", "worn"], 7)
    ('worn', 1, '7')
    """
    if not words or not isinstance(number, int):
        return number
    return words[number] if 0 <= number < len(words) else str(number)


def number_of(words: list[str], label: Any) -> Any:
    """The number that stands for a label, the reverse of `word_of`; a new word is added."""
    if not isinstance(label, str):
        return label
    if label not in words:
        if label.removeprefix("-").isdecimal():
            return int(label)
        words.append(label)  # of a model that knows it before the link does
    return words.index(label)

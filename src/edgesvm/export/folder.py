"""Write a model's folder: NAME.h, NAME.c, its link, the runtime in ``edgesvm/``, and glue for builds."""

from __future__ import annotations

import json
import os
import re
from importlib.resources import files
from pathlib import Path

from edgesvm.export import fixed, link
from edgesvm.export.fixed import Fixed
from edgesvm.export.sources import Model, header, read, source
from edgesvm.learner import Learner
from edgesvm.preprocessing.chain import Chain

OF_ALL = (
    "esvm.h",
    "esvm.c",
    "soft.c",
    "floor.h",
    "arith.h",
    "sums.h",
    "waves.h",
    "types.h",
    "model.h",
    "chain.h",
    "fixed.h",
)
OF_LINKS = ("link.h", "link.c")


def export(
    learner: Learner | Chain,
    folder: str | os.PathLike[str],
    prefix: str = "model",
    *,
    inference: bool = False,
) -> list[Path]:
    """Write C99 that learns and predicts as `learner` does, from where it is.

    Parameters
    ----------
    learner : Learner or Chain, allocated, which knows its classes
    folder : where to; made if it is not there, files of the same names are replaced
    prefix : str, a C identifier that all names begin with
    inference : bool, default False
        Write tables in flash that decide and learn no more; decisions are the same but for
        rounding.

    Returns
    -------
    list of Path, the files written

    Raises
    ------
    ValueError
        The learner has no translation, does not know its classes, or `prefix` is no C identifier.

    Examples
    --------
    >>> import tempfile
    >>> from edgesvm import Standardized, StreamSVM
    >>> model = Standardized(learner=StreamSVM()).allocate(4, classes=["idle", "pumping"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in export(model, folder, "pump")][:2]
    ['pump.h', 'pump.c']
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix) or prefix in ("esvm", "edgesvm"):
        raise ValueError(f"prefix {prefix!r}: give a C identifier, not esvm or edgesvm")
    if inference:
        if isinstance(learner, Chain):
            raise ValueError("a Chain cannot be exported for inference; its learner_ can")
        given = Fixed.of(learner, prefix)
        texts = {f"{prefix}.h": fixed.header(given), f"{prefix}.c": fixed.source(given)}
        headers, title = [], given.title
    else:
        model = Model.of(learner, prefix)
        texts = {f"{prefix}.h": header(model), f"{prefix}.c": source(model)}
        headers, title = [unit.header for unit in model.all_units], model.title
        if link.has_link(model):
            texts[f"{prefix}_link.h"] = link.header(model)
            texts[f"{prefix}_link.c"] = link.source(model)
            texts |= {f"edgesvm/{name}": read("floor", name) for name in OF_LINKS}
    for name in OF_ALL:
        texts[f"edgesvm/{name}"] = read("floor", name)
    for name in needed(headers):
        texts[f"edgesvm/{name}"] = read("translated", name)
    texts["Makefile"] = read("floor", "Makefile.txt").replace("NAME", prefix)
    texts["library.json"] = library(prefix, title)
    written = []
    for name, text in texts.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def needed(headers: list[str]) -> list[str]:
    """Translated headers, and those that they include."""
    found, todo = [], ["kernels.h", *headers]  # the self-test has an exponential
    while todo:
        name = todo.pop(0)
        if name in found or not (files("edgesvm.export") / "translated" / name).is_file():
            continue
        found.append(name)
        todo += re.findall(r'#include "(\w+\.h)"', read("translated", name))
    return found


def library(prefix: str, title: str) -> str:
    """library.json, which PlatformIO reads."""
    return (
        json.dumps(
            {
                "name": prefix.replace("_", "-"),
                "version": "1.0.0",
                "description": f"{title}: a model of edgesvm",
                "frameworks": "*",
                "platforms": "*",
                "build": {"srcDir": ".", "flags": ["-ffp-contract=off"]},
            },
            indent=2,
        )
        + "\n"
    )


__all__ = ["export"]

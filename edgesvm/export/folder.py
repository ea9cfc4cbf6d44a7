"""Write a model's folder: NAME.h, NAME.c, the runtime in ``edgesvm/``, and glue."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from edgesvm.export import fixed, flash
from edgesvm.export.fixed import Fixed
from edgesvm.export.glue import glue
from edgesvm.export.sources import Model, header, source
from edgesvm.export.texts import WRITTEN, byte_h, read
from edgesvm.export.units import raw_features, untranslated
from edgesvm.learner import Learner, learner_in
from edgesvm.preprocessing.chain import Chain

OF_ALL = (
    "esvm.h",
    "esvm.c",
    "soft.c",
    "floor.h",
    "arith.h",
    "sums.h",
    "tiled.h",
    "waves.h",
    "types.h",
    "classes.h",
    "labels.h",
    "targets.h",
    "model.h",
    "chain.h",
    "windows.h",
    "gap.h",
    "fixed.h",
    "folded.h",
    "line.h",
    "dual.h",
    "flash.h",
    "probable.h",
)
BYTE_SVM = WRITTEN["ByteSVM"]["header"]


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
        Write tables in flash that decide and learn no more: to the bit as the host, but for a
        linear model, which is folded with its scaler into one vector. Of a chain, with the windows
        of its raw samples.

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
        texts, headers, title = for_inference(learner, prefix)
    else:
        model = Model.of(learner, prefix)
        texts = {f"{prefix}.h": header(model), f"{prefix}.c": source(model)}
        headers, title = [unit.header for unit in model.all_units], model.title
    for name in OF_ALL:
        texts[f"edgesvm/{name}"] = read("floor", name)
    for name in needed(headers):
        texts[f"edgesvm/{name}"] = read("translated", name)
    if BYTE_SVM in headers:
        texts |= {f"edgesvm/{BYTE_SVM}": read("floor", BYTE_SVM), "edgesvm/byte.h": byte_h()}
    texts |= glue(
        prefix,
        title,
        [name for name in texts if name.endswith(".c")],
        header=texts[f"{prefix}.h"],
        of_integers=headers == [BYTE_SVM] and not inference,
    )
    written = []
    for name, text in texts.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def for_inference(learner: Learner | Chain, prefix: str) -> tuple[dict[str, str], list[str], str]:
    """NAME.h and NAME.c, the translated headers that they need, and what the model is."""
    made = that_decides(learner, prefix)
    if isinstance(made, Fixed):
        texts = {f"{prefix}.h": fixed.header(made), f"{prefix}.c": fixed.source(made)}
        headers = ["rows.h"]
    else:
        texts = {f"{prefix}.h": flash.header(made), f"{prefix}.c": flash.source(made)}
        headers = [unit.header for unit in made.units]
    if made.windows is not None:
        headers.append(made.windows.header)
    return texts, headers, made.title


def that_decides(model: Learner | Chain, prefix: str) -> Fixed | Model:
    """What of a model goes into the sources of one that learns no more.

    Raises
    ------
    ValueError
        It has learned nothing, or has no such form.
    """
    learner = learner_in(model)
    if not learner.is_fitted:
        raise ValueError("the model has not learned a sample: there is nothing to decide by")
    made = Fixed.of(learner, prefix) or in_flash(learner, prefix)
    if isinstance(model, Chain):
        windows = raw_features(model.windows_, model.n_features_in_)
        made = replace(made, title=repr(model), windows=windows)
    return replace(made, names=model._columns or ())


def in_flash(learner: Learner, prefix: str) -> Model:
    """Of a learner that decides by its arena."""
    lacks = untranslated(learner)
    if lacks is not None:
        within = "" if lacks is learner else f" within {type(learner).__name__}"
        instead = "FourierSVR" if learner.regresses else "LASVM"
        raise ValueError(
            f"{type(lacks).__name__}{within} cannot be exported for inference; use {instead}"
        )
    return Model.of(learner, prefix)


def needed(headers: list[str]) -> list[str]:
    """Translated headers, and those that they include."""
    found, todo = [], ["kernels.h", *headers]  # the self-test has an exponential
    if BYTE_SVM in headers:
        todo += included(read("floor", BYTE_SVM))
    while todo:
        name = todo.pop(0)
        if name in found or not (files("edgesvm.export") / "translated" / name).is_file():
            continue
        found.append(name)
        todo += included(read("translated", name))
    return found


def included(text: str) -> list[str]:
    return re.findall(r'#include "(\w+\.h)"', text)


__all__ = ["export"]

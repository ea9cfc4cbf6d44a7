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
from edgesvm.export.units import raw_features, read, untranslated
from edgesvm.learner import Learner, learner_in
from edgesvm.preprocessing.chain import Chain

# Headers, and types without their _t, of C, POSIX and Arduino. Some systems ignore case.
TAKEN = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time
uchar wchar wctype alloca endian features fcntl malloc memory poll pthread sched unistd arduino
binary client hardwareserial ipaddress print printable server stream udp usbapi wcharacter wstring
new spi wire eeprom servo softwareserial blkcnt blksize clock clockid dev div double error fexcept
fpos gid id imaxdiv ino intmax intptr key ldiv lldiv max_align mbstate mode nlink nullptr off pid
ptrdiff quad regex register sig_atomic sigset size socklen ssize stack suseconds timer uid uintmax
uintptr useconds wctrans wint char8 char16 char32
"""


def export(
    learner: Learner | Chain,
    folder: str | os.PathLike[str],
    prefix: str = "model",
    *,
    inference: bool | None = None,
) -> list[Path]:
    """Write C99 that learns and predicts as `learner` does, from where it is; returns the files.

    Parameters
    ----------
    learner : Learner or Chain, allocated, which knows its classes
    folder : where to; made if it is not there, files of the same names are replaced
    prefix : str, a C identifier that all names begin with
    inference : bool, optional
        Write tables in flash that decide and learn no more: to the bit as the host, but for a
        linear model, which is folded with its scaler into one vector. Of a chain, with the windows
        of its raw samples. Default: only if it is none of those that learn on a board, which are
        ByteSVM, StreamSVM, FourierSVM, FourierSVR, AdaGradSVR, GaussianNovelty and KernelNovelty,
        behind a standardizer or within Calibrated, too.

    Raises
    ------
    ValueError
        The learner has no such form, does not know its classes, or `prefix` is no C identifier.

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
    if prefix.lower() in TAKEN.split() or re.fullmatch(r"u?int(_\w+)?\d+", prefix):
        raise ValueError(
            f"prefix {prefix!r}: C or Arduino has {prefix}.h or {prefix}_t; give another, such as"
            f" {prefix}_model"
        )
    of_integers = False
    if decides_only(learner) if inference is None else inference:
        texts, title, goal = *for_inference(learner, prefix), "decide"
    else:
        model = Model.of(learner, prefix)
        texts = {f"{prefix}.h": header(model), f"{prefix}.c": source(model)}
        title, goal = model.title, "learn"
        of_integers = [unit.name for unit in model.all_units] == ["ByteSVM"]
    runtime = with_all_included(texts, goal)
    if re.search(rf"\b({prefix}|{prefix.upper()})_\w", "".join(runtime.values())):
        raise ValueError(
            f"prefix {prefix!r}: names of the runtime begin so; give another, as {prefix}_model"
        )
    texts |= runtime
    sources = [name for name in texts if name.endswith(".c")]
    texts |= glue(prefix, title, sources, header=texts[f"{prefix}.h"], of_integers=of_integers)
    written = []
    for name, text in texts.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def decides_only(model: Learner | Chain) -> bool:
    """Whether it can be exported to decide, but not to learn."""
    return untranslated(learner_in(model), "learn") is not None


def for_inference(learner: Learner | Chain, prefix: str) -> tuple[dict[str, str], str]:
    """NAME.h and NAME.c, and what the model is."""
    made = that_decides(learner, prefix)
    if isinstance(made, Fixed):
        return {f"{prefix}.h": fixed.header(made), f"{prefix}.c": fixed.source(made)}, made.title
    return {f"{prefix}.h": flash.header(made), f"{prefix}.c": flash.source(made)}, made.title


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
    made = Fixed.of(learner, prefix) or Model.of(learner, prefix, "decide")
    if isinstance(model, Chain):
        windows = raw_features(model.windows_, model.n_features_in_, "decide")
        made = replace(made, title=repr(model), windows=windows)
    return replace(made, names=model._columns or ())


def with_all_included(texts: dict[str, str], goal: str) -> dict[str, str]:
    """What these sources include, and what that includes; and the runtime's own sources."""
    found: dict[str, str] = {}
    todo = ["esvm.c", "soft.c", *included("".join(texts.values()), "edgesvm/")]
    while todo:
        name = todo.pop()
        if f"edgesvm/{name}" not in found:
            found[f"edgesvm/{name}"] = of_runtime(name, goal)
            todo += included(found[f"edgesvm/{name}"])
    return found


def included(text: str, folder: str = "") -> list[str]:
    """Names of the runtime's headers; its own files do not name the folder."""
    found = re.findall(rf'#include "{folder}(\w+\.h)"', text)
    return [name for name in found if name != "byte_lanes.h"]  # which the host alone includes


def of_runtime(name: str, goal: str) -> str:
    """A file that is the same for every model: written by hand, ByteSVM's own, or translated."""
    if name == "byte.h":
        return (files("edgesvm.learners.byte") / name).read_text(encoding="utf-8")
    written = (files("edgesvm.export") / "floor" / name).is_file()
    return read("floor" if written else f"translated/{goal}", name)


__all__ = ["export"]

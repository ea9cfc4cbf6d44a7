"""Labels in words and columns with names, from a CSV file to what everybody sees of the model."""

from __future__ import annotations

import contextlib
import io
import random
import re
import tempfile
from pathlib import Path

from edgesvm.cli import main


def _shown(*words: str) -> str:
    """What an edgesvm command prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(list(words))
    return f"{out.getvalue()}exit code {code}\n"


def _pump(folder: Path) -> str:
    """A CSV of a pump that is worn or fine; the path."""
    draw = random.Random(0)
    lines = ["vibration,temperature,state"]
    for _ in range(300):
        worn = draw.random() < 0.4
        vibration, temperature = draw.gauss(0.4 + worn, 0.3), draw.gauss(45 + 7 * worn, 3)
        lines.append(f"{vibration:.3f},{temperature:.2f},{'worn' if worn else 'fine'}")
    path = folder / "pump.csv"
    path.write_text("\n".join(lines))
    return str(path)


def eval_of_words() -> str:
    """Eval of a CSV whose labels are words, and inspect of what it saved."""
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/pump.esvm"
        told = _shown("eval", _pump(Path(folder)), "--probabilities", "--save", model)
        return told + _shown("inspect", model)


def eval_of_one_word() -> str:
    """Eval of one word against all others."""
    with tempfile.TemporaryDirectory() as folder:
        return _shown("eval", _pump(Path(folder)), "--positive", "worn")


def features_of_windows() -> str:
    """Inspect of a model of windows of raw samples."""
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/pump.esvm"
        _shown("eval", _pump(Path(folder)), "--window", "16", "--rate", "10", "--save", model)
        return _shown("inspect", model)


def exported_c() -> str:
    """The names in the C of a model."""
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/pump.esvm"
        _shown("eval", _pump(Path(folder)), "--save", model)
        _shown("export", model, "--c", f"{folder}/c", "--prefix", "pump")
        header = Path(folder, "c", "pump.h").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"/\* The features[^/]*/|static const char.*", header))

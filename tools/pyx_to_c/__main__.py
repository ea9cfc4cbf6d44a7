"""Write the C of the learners that can be exported: ``python -m pyx_to_c FOLDER [DEPFILE]``.

Meson runs it. The depfile lists, for Ninja, the files that were read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyx_to_c.names import Module
from pyx_to_c.program import Program

CLASSES = [
    ("edgesvm.learners.stream._stream", "StreamSVMCore"),
    ("edgesvm.preprocessing._standardized", "StandardizedCore"),
    ("edgesvm.learners.stream._stream", "KernelStreamSVMCore"),
    ("edgesvm.learners.gradient._adagrad_svm", "AdaGradSVMCore"),
    ("edgesvm.learners.fourier._fourier_svm", "FourierSVMCore"),
    ("edgesvm.learners.novelty._novelty", "GaussianNoveltyCore"),
    ("edgesvm.learners.novelty._novelty", "KernelNoveltyCore"),
    ("edgesvm.learners.twin._adiabatic", "TwinVectorMachineCore"),
    ("edgesvm.learners.twin._adiabatic", "IncrementalDecrementalSVMCore"),
    ("edgesvm.learners.twin._shared_twin_svm", "SharedTwinSVMCore"),
    ("edgesvm.learners.twin._adiabatic", "SimpleSVMCore"),
    ("edgesvm.learners.papers.enclosing._enclosing", "BallVectorMachineCore"),
    ("edgesvm.learners._multiclass", "MulticlassCore"),
    ("edgesvm.preprocessing._robust_standardized", "RobustStandardizedCore"),
    ("edgesvm.preprocessing._windows", "WindowFeaturesCore"),
    ("edgesvm.preprocessing._windows", "ClockFeaturesCore"),
    ("edgesvm.learners.papers.online._online", "PerceptronCore"),
    ("edgesvm.learners.papers.online._online", "PassiveAggressiveCore"),
    ("edgesvm.learners.papers.online._online", "PegasosCore"),
    ("edgesvm.learners.papers.online._online", "KernelPerceptronCore"),
    ("edgesvm.learners.papers.online._online", "ForgetronCore"),
    ("edgesvm.learners.papers.online._online", "LASVMCore"),
    ("edgesvm.learners._calibrated", "CalibratedCore"),
    ("edgesvm.learners.regression._adagrad_svr", "AdaGradSVRCore"),
    ("edgesvm.learners.regression._fourier_svr", "FourierSVRCore"),
    ("edgesvm.learners.regression._fourier_rls", "FourierRLSCore"),
]
ROOTS = ["learn_row", "answer", "winner", "n_learned", "weighed_step", "decide"]
ROOTS += ["is_too_large", "take"]  # of windows
ROOTS += ["probabilities", "forecast"]  # a stage asks for them, whatever is behind it
ROOTS += ["learn_sample"]  # of a regressor
ROOTS += ["fault", "votes_fault"]  # of an arena that was read
# What may be larger than an index.
COUNTS = ["n_seen", "n_updates", "n_per_class", "n_averaged", "n_scored", "n_alarms", "n_apart"]
COUNTS += ["n_run", "n_pushed", "n_rows", "n_dropped", "n_unknown", "n_missing", "covered"]
COUNTS += ["n_iter", "n_taken", "n_given_up", "budget", "max_iter", "clock", "number"]


def main() -> None:
    target = Path(sys.argv[1])
    program = Program(CLASSES, ROOTS, COUNTS)
    texts = program.headers()
    texts["attributes.json"] = json.dumps(program.attributes(), indent=1) + "\n"
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():  # also so that the folder is newer than what it was made of
        old.unlink()
    for name, text in texts.items():
        (target / name).write_text(text, encoding="utf-8")
    if len(sys.argv) > 2:
        read = [path for module in Module.loaded.values() for path in module.files]
        read += Path(__file__).parent.glob("*.py")
        listed = " ".join(str(path).replace(" ", "\\ ") for path in read)
        Path(sys.argv[2]).write_text(f"{target}: {listed}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Write the C of the learners that can be exported: ``python -m pyx_to_c FOLDER [DEPFILE]``.

Meson runs it. The depfile lists, for Ninja, the files that were read.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from pyx_to_c.names import Module
from pyx_to_c.program import Program

# Of what learns on a board, the stages around it and the windows before it.
LEARNING = [
    ("edgesvm.learners.stream._stream", "StreamSVMCore"),
    ("edgesvm.preprocessing._standardized", "StandardizedCore"),
    ("edgesvm.learners.fourier._fourier", "FourierSVMCore"),
    ("edgesvm.learners.novelty._novelty", "GaussianNoveltyCore"),
    ("edgesvm.learners.novelty._novelty", "KernelNoveltyCore"),
    ("edgesvm.preprocessing._windows", "WindowFeaturesCore"),
    ("edgesvm.preprocessing._windows", "ClockFeaturesCore"),
    ("edgesvm.learners._calibrated", "CalibratedCore"),
    ("edgesvm.learners.fourier._regression", "AdaGradSVRCore"),
    ("edgesvm.learners.fourier._regression", "FourierSVRCore"),
]
# And of what decides there only.
DECIDING = [
    *LEARNING,
    ("edgesvm.learners.stream._stream", "KernelStreamSVMCore"),
    ("edgesvm.learners.fourier._fourier", "AdaGradSVMCore"),
    ("edgesvm.learners.twin._adiabatic", "TwinVectorMachineCore"),
    ("edgesvm.learners.twin._adiabatic", "IncrementalDecrementalSVMCore"),
    ("edgesvm.learners.twin._shared_twin_svm", "SharedTwinSVMCore"),
    ("edgesvm.learners.twin._adiabatic", "SimpleSVMCore"),
    ("edgesvm.learners.papers.enclosing._enclosing", "BallVectorMachineCore"),
    ("edgesvm.learners._multiclass", "MulticlassCore"),
    ("edgesvm.learners.papers.online._online", "PerceptronCore"),
    ("edgesvm.learners.papers.online._online", "PassiveAggressiveCore"),
    ("edgesvm.learners.papers.online._online", "PegasosCore"),
    ("edgesvm.learners.papers.online._online", "KernelPerceptronCore"),
    ("edgesvm.learners.papers.online._online", "ForgetronCore"),
    ("edgesvm.learners.papers.online._online", "LASVMCore"),
    ("edgesvm.learners.fourier._regression", "FourierRLSCore"),
]
TO_DECIDE = ["answer", "winner", "n_learned", "decide", "probabilities"]
TO_DECIDE += ["forecast"]  # a stage asks for it, whatever is behind it
TO_DECIDE += ["is_too_large", "WindowFeatures.take", "ClockFeatures.take"]  # of windows
TO_DECIDE += ["drop_open"]
TO_LEARN = [*TO_DECIDE, "learn_row", "weighed_step"]
TO_LEARN += ["learn_sample", "pass_over"]  # of a regressor
TO_LEARN += ["fault", "votes_fault"]  # of an arena that was read
TO_LEARN += ["count_vote", "most_votes"]
# By the folder that it is put into.
PROGRAMS = {"learn": (LEARNING, TO_LEARN), "decide": (DECIDING, TO_DECIDE)}
# What may be larger than an index.
COUNTS = ["n_seen", "n_updates", "n_per_class", "n_averaged", "n_scored", "n_alarms", "n_apart"]
COUNTS += ["n_run", "n_pushed", "n_rows", "n_dropped", "n_unknown", "n_missing", "covered"]
COUNTS += ["number"]


def main() -> None:
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    for folder, (classes, roots) in PROGRAMS.items():
        program = Program(classes, roots, COUNTS)
        texts = program.headers()
        texts["attributes.json"] = json.dumps(program.attributes(), indent=1) + "\n"
        (target / folder).mkdir(parents=True)
        for name, text in texts.items():
            (target / folder / name).write_text(text, encoding="utf-8")
    if len(sys.argv) > 2:
        read = [path for module in Module.loaded.values() for path in module.files]
        read += Path(__file__).parent.glob("*.py")
        listed = " ".join(str(path).replace(" ", "\\ ") for path in read)
        Path(sys.argv[2]).write_text(f"{target}: {listed}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

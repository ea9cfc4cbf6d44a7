"""Instructions a sample of every learner that can be exported, on every core, and the time that
they take on boards; bytes of machine code and stack.

Predicted, as by `edgesvm export --report`, from factors that `tools/board_costs.py` fitted to
counts under QEMU; `within` is the factor by which a count may differ. Nine features, float32,
stores full; a `TwinDictionarySVM` costs what a `TwinVectorMachine` does until its twins settle.
"""

from __future__ import annotations

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from edgesvm import (
    LASVM,
    AdaGradSVM,
    BallVectorMachine,
    ByteSVM,
    Calibrated,
    Forgetron,
    FourierFeatures,
    FourierSVM,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    RobustStandardized,
    SimpleSVM,
    Standardized,
    StreamSVM,
    TwinDictionarySVM,
    TwinVectorMachine,
)
from edgesvm.export.boards import BOARDS, CORES
from edgesvm.export.costs import Cost, predicted
from edgesvm.learner import Learner

D = 9
LEARNERS: dict[str, Learner] = {
    "ByteSVM, 4 KiB": ByteSVM(),
    "StreamSVM": StreamSVM(),
    "StreamSVM(lookahead=6)": StreamSVM(lookahead=6),
    "StreamSVM(n_balls=4)": StreamSVM(n_balls=4),
    "Standardized(StreamSVM)": Standardized(learner=StreamSVM()),
    "RobustStandardized(StreamSVM)": RobustStandardized(learner=StreamSVM()),
    "Calibrated(StreamSVM)": Calibrated(learner=StreamSVM()),
    "OneVsOne(StreamSVM), 4 classes": OneVsOne(learner=StreamSVM(), n_classes=4),
    "OneVsRest(StreamSVM), 4 classes": OneVsRest(learner=StreamSVM(), n_classes=4),
    "AdaGradSVM": AdaGradSVM(),
    "AdaGradSVM, 4 classes": AdaGradSVM(n_classes=4),
    "Perceptron": Perceptron(),
    "PassiveAggressive": PassiveAggressive(),
    "Pegasos": Pegasos(),
    "FourierSVM, 64 directions": FourierSVM(n_directions=64),
    "FourierFeatures(StreamSVM), 64": FourierFeatures(learner=StreamSVM(), n_directions=64),
    "KernelStreamSVM, 30 vectors": KernelStreamSVM(max_vectors=30),
    "KernelStreamSVM, share, 30": KernelStreamSVM(max_vectors=30, when_full="share"),
    "KernelPerceptron, 30": KernelPerceptron(max_vectors=30),
    "Forgetron, 30": Forgetron(max_vectors=30),
    "LASVM, 30": LASVM(max_vectors=30),
    "BallVectorMachine, 30": BallVectorMachine(max_core=30, n_probes=30),
    "TwinVectorMachine, 30 twins": TwinVectorMachine(max_twins=30),
    "TwinDictionarySVM, 30, settled": TwinDictionarySVM(max_twins=30),
    "IncrementalDecrementalSVM, 30": IncrementalDecrementalSVM(max_vectors=30),
    "SimpleSVM, 30": SimpleSVM(max_vectors=30),
    "GaussianNovelty": GaussianNovelty(),
    "GaussianNovelty, diagonal": GaussianNovelty(covariance="diagonal"),
    "KernelNovelty, 30 centres": KernelNovelty(max_vectors=30),
}
COUNTED = sorted({core.counted_as for core in CORES.values() if core.has_double})
SHOWN = ("microbit", "pico", "stm32f103", "nano33", "esp32-c3", "teensy41")


def thousands(n: float) -> str:
    return f"{n / 1e3:,.1f}" if n < 1e5 else f"{n / 1e3:,.0f}"


def cost(learner: Learner, core: str) -> Cost:
    found = predicted(learner, D, core)
    assert found is not None, f"{learner!r} was not counted: run tools/board_costs.py"
    return found


def milliseconds(name: str, learner: Learner) -> str:
    """To decide and to learn, on a board."""
    board = BOARDS[name]
    core, found = CORES[board.core], cost(learner, CORES[board.core].counted_as)
    times = (n * core.cycles / board.mhz / 1e3 for n in (found.decide, found.learn))
    return " / ".join(f"{t:.2g}" if t < 100 else f"{t:.0f}" for t in times)


def main() -> None:
    args = parsed(arguments(__doc__))
    titles = [CORES[core].title for core in COUNTED]
    counts, sizes, times = [], [], []
    for name, learner in LEARNERS.items():
        found = [cost(learner, core) for core in COUNTED]
        within = max(max(one.within) for one in found)
        cells = [f"{thousands(one.decide)} / {thousands(one.learn)}" for one in found]
        counts.append([name, *cells, f"{within:.2g}"])
        sizes.append([name, *(f"{one.code:,} / {one.stack:,}" for one in found)])
        times.append([name, *(milliseconds(board, learner) for board in SHOWN)])
    figures = {
        name: {core: vars(cost(learner, core)) for core in COUNTED}
        for name, learner in LEARNERS.items()
    }
    boards = [f"{name}, {BOARDS[name].mhz} MHz" for name in SHOWN]
    publish(
        Report(
            "export/instructions",
            "Instructions a sample, of every exported learner on every core",
            [
                Table("Thousands: decide / learn", ["learner", *titles, "within"], counts),
                Table("Milliseconds: decide / learn", ["learner", *boards], times, TIME),
                Table("Bytes: machine code / stack", ["learner", *titles], sizes, BYTES),
            ],
            about=[str(__doc__)],
            figures=figures,
        ),
        args.out,
    )


TIME = """\
At 1.5 cycles an instruction, on a Cortex-M7 at one: assumed, not measured, and without waits for
flash."""
BYTES = """\
Code with what it needs of the compiler's library, and without the image of the model. Stack is a
bound by GCC's call graph; of stages and multiclass learners, sums of bounds."""


if __name__ == "__main__":
    main()

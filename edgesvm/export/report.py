"""What an exported model takes of a board and its time, before anything is flashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.export.boards import BOARDS, CORES, Board
from edgesvm.export.costs import (
    LEAST_FACTOR,
    Cost,
    Part,
    ahead_of,
    instructions,
    predicted,
    table,
)
from edgesvm.export.fixed import Fixed, table_bytes
from edgesvm.export.flash import work
from edgesvm.export.folder import decides_only, that_decides
from edgesvm.export.sources import Model, windows_ram
from edgesvm.learner import Learner, learner_in
from edgesvm.preprocessing.chain import Chain


@dataclass(frozen=True)
class Need:
    """What a model needs on a board; None where nothing is known."""

    board: Board
    model: int  # RAM of the model: the arena and what is behind it
    windows: bool  # whether instructions are those of a window of raw samples
    source: str  # whose figures flash and stack are, or why nothing is known
    flash: int | None = None  # of its functions and tables, and of the compiler's library for them
    stack: int | None = None  # RAM of a call, at most
    decide: float | None = None  # instructions a sample; of a Chain, a window
    learn: float | None = None
    within: tuple[float, float] | None = None  # by what factor a count may differ from them
    possible: bool = True  # whether its arithmetic is to be had there

    @property
    def ram(self) -> int:
        return self.model + (self.stack or 0)

    @property
    def fits(self) -> bool:
        room = self.ram <= self.board.ram and (self.flash or 0) <= self.board.flash
        return room and self.possible

    def milliseconds(self, instructions: float) -> float:
        return instructions * CORES[self.board.core].cycles / self.board.mhz / 1e3

    def as_json(self, name: str) -> dict[str, Any]:
        board, core = self.board, CORES[self.board.core]
        known = {what: getattr(self, what) for what in ("decide", "learn")}
        return {
            "board": name,
            "title": board.title,
            "core": core.title,
            "mhz": board.mhz,
            "fpu": board.fpu,
            "flash": {"needs": self.flash, "has": board.flash},
            "ram": {"needs": self.ram, "has": board.ram, "model": self.model, "stack": self.stack},
            "source": self.source,
            "counted_on": CORES[core.counted_as].title,
            "instructions": {k: None if v is None else round(v) for k, v in known.items()},
            "within_a_factor_of": self.within,
            "milliseconds": {
                k: None if v is None else float(f"{self.milliseconds(v):.3g}")
                for k, v in known.items()
            },
            "fits": self.fits,
        }


def needs(model: Learner | Chain, names: list[str], *, inference: bool | None = None) -> list[Need]:
    """What a model, allocated and with known classes, needs on boards, `names` of `BOARDS`;
    `inference` as in `export`. ValueError if it cannot be exported.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> model = Standardized(learner=StreamSVM()).allocate(4, classes=["idle", "pumping"])
    >>> [need.fits for need in needs(model, ["pico", "microbit"])]
    [True, True]
    """
    inference = decides_only(model) if inference is None else inference
    made = that_decides(model, "model") if inference else Model.of(model, "model")
    ram = made.ram if isinstance(made, Model) else 0
    if inference:
        ram = windows_ram(made.windows)
        ram += work(made)[1].nbytes if isinstance(made, Model) else 0
    return [need_on(BOARDS[name], made, model, ram, inference) for name in names]


def need_on(
    board: Board, made: Fixed | Model, model: Learner | Chain, ram: int, inference: bool
) -> Need:
    core, known = CORES[board.core], (board, ram, isinstance(model, Chain))
    of_integers = isinstance(made, Model) and [u.name for u in made.all_units] == ["ByteSVM"]
    if not core.has_double and not of_integers:
        why = "not to be had: a double has 32 bits there, and only ByteSVM needs none"
        return Need(*known, why, possible=False)
    cost = estimated(made, model, board.core)
    if cost is None:
        return Need(*known, "not known: not measured")
    if isinstance(made, Fixed):
        data = table_bytes(made)
    else:
        data = made.ram if inference else made.ram + len(made.head)
    source = f"estimated from figures of a {CORES[core.counted_as].title}"
    learn = None if inference else cost.learn
    return Need(*known, source, cost.code + data, cost.stack, cost.decide, learn, cost.within)


def estimated(made: Fixed | Model, learner: Learner | Chain, key: str) -> Cost | None:
    """From the committed table."""
    counted_as, inner = CORES[key].counted_as, learner_in(learner)
    if isinstance(made, Fixed):
        return None if made.windows is not None else tables(made, counted_as)
    return predicted(inner, inner.n_features_in_, counted_as, ahead=ahead_of(learner))


def tables(model: Fixed, core: str) -> Cost | None:
    """What a model exported for inference costs."""
    part = part_of(model)
    entry = table()["cores"].get(core, {}).get(part.kind)
    if entry is None:
        return None
    decide, _ = instructions(entry, part, model.dtype)
    within = max(LEAST_FACTOR, entry["wrong"][0])
    return Cost(decide, 0.0, entry["code"], entry["stack"], (within, 1.0))


def part_of(model: Fixed) -> Part:
    if model.dual is None:
        return Part("linear tables", (1, model.n_values, model.coef.size))
    return Part("kernel tables", (1, *model.dual.rows.shape[:1], model.dual.rows.size))


# -- as text ---------------------------------------------------------------------------------------


def overview(needed: dict[str, Need]) -> str:
    """A line a board."""
    lines = [
        f"  {'board':<10} {'core':<15} {'flash':>9} {'RAM':>8} {'decide':>11} {'learn':>11}   fits"
    ]
    for name, need in needed.items():
        times = [
            "-" if n is None else f"{need.milliseconds(n):.3g} ms"
            for n in (need.decide, need.learn)
        ]
        flash = "-" if need.flash is None else f"~{need.flash:,}"
        fits = "yes" if need.fits else "NO"
        lines.append(
            f"  {name:<10} {CORES[need.board.core].title:<15} {flash:>9} {need.ram:>8,}"
            f" {times[0]:>11} {times[1]:>11}   {fits}"
        )
    return "\n".join(lines)


def details(need: Need) -> str:
    """All of one board."""
    board, core = need.board, CORES[need.board.core]
    fpu = "no FPU" if board.fpu == "none" else f"{board.fpu}-precision FPU"
    lines = [f"{board.title}: {core.title}, {board.mhz} MHz, {fpu}", ""]
    lines.append(f"  {'':<8} {'needs':>10} {'has':>10} {'left':>11}")
    for what, needed, there in (("flash", need.flash, board.flash), ("RAM", need.ram, board.ram)):
        if needed is None:
            lines.append(f"  {what:<8} {'-':>10} {there:>10,}   {need.source}")
            continue
        lines.append(f"  {what:<8} {needed:>10,} {there:>10,} {there - needed:>11,}")
    stack = "not known" if need.stack is None else f"at most {need.stack:,}"
    lines += [f"\n  RAM: the model {need.model:,}, stack of a call {stack}"]
    lines += [f"  flash and stack: {need.source}", ""]
    unit = "instructions" if core.has_double else "cycles"
    for what, count, within in zip(
        ("decide", "learn"), (need.decide, need.learn), need.within or (0, 0), strict=True
    ):
        if count is not None:
            lines.append(
                f"  {what:<8} {round(count, -2):>10,.0f} {unit}, within a factor of"
                f" {within:.2g}; {need.milliseconds(count):.3g} ms"
            )
    if need.decide is None:
        lines.append("  instructions: not known, since this learner was not counted")
    else:
        counted = CORES[core.counted_as].title
        stand_in = "" if counted.startswith(core.title[:9]) else ", which stands in"
        lines.append(f"  a mean, predicted from counts on an emulated {counted}{stand_in}")
        if core.has_double:
            lines.append(f"  time at {core.cycles:g} cycles an instruction, which is assumed")
        else:
            lines.append("  the stack was measured, with tables that the compiler puts into RAM")
    if need.windows:
        lines.append("  of a window; taking in raw samples until it is complete comes to that")
    lines.append(f"\n  {'It fits.' if need.fits else 'It does not fit.'}")
    return "\n".join(lines)

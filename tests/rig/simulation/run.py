"""A run of a seed, from the first start of the host to what is loaded at the end."""

from __future__ import annotations

import time
from dataclasses import dataclass

from firmware_sim.line import Ledger
from rig.simulation.host import Broken, Host
from rig.simulation.plan import CALM_S, Plan, plan
from rig.simulation.world import World


@dataclass(frozen=True)
class Outcome:
    """What became of a seed.

    ``broken`` : the invariant that did not hold, at event `n_events`; empty if all did. ``trace`` :
    a hash of all events: a replay has the same. ``counters`` : those of the last report.
    """

    seed: int
    broken: str
    n_events: int
    virtual_s: float
    lives: int
    learned: int
    trace: str
    seconds: float
    counters: dict[str, int]
    ledger: Ledger
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.broken:
            return (
                f"seed {self.seed}: {self.n_events:,} events in {self.virtual_s:,.0f} s, "
                f"{self.lives} lives, {self.learned:,} learned, trace {self.trace}"
            )
        return (
            f"seed {self.seed}: BROKEN at event {self.n_events:,}, {self.virtual_s:,.3f} s: "
            f"{self.broken}\n  python -m rig --replay {self.seed}"
        )


def simulate(seed: int, *, keep_lines: bool = False, of: Plan | None = None) -> Outcome:
    """Run a seed, or a plan, to its end, or to the first invariant that does not hold."""
    started = time.perf_counter()
    world = World(of or plan(seed))
    world.lines = [] if keep_lines else None
    host = Host(world)
    with host.in_world():
        try:
            _live_to_the_end(host, world)
        except Broken as broken:
            host.broken = host.broken or str(broken)
    return Outcome(
        seed,
        host.broken,
        world.n_events,
        world.now,
        host.lives,
        host.n_learned,
        world.trace,
        time.perf_counter() - started,
        host.counters,
        world.node.ledger,
        tuple(world.lines or ()),
    )


def _live_to_the_end(host: Host, world: World) -> None:
    ends = list(world.plan.ends)
    began = 0.0
    while not (host.live(ends.pop(0) if ends else None) and world.is_over):
        if world.is_late:
            host.breaks("the run does not come to its end")
        began = world.now
        world.idle(0.5)
    host.check_silence()
    if not world.node.finished:
        host.breaks("the node has not sent all its samples")
    if world.now - began > 2 * CALM_S and world.now - host.last_news_at > CALM_S:
        host.breaks(
            f"nothing has come of the node in the last {world.now - host.last_news_at:.1f} s"
        )
    host.load_at_the_end()

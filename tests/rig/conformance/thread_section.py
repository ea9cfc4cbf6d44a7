"""Threads and callbacks at every kind of learner."""

from __future__ import annotations

from rig.conformance.section import Section
from rig.threads import METHODS, in_child


def thread_section(*, seconds: float) -> Section:
    """All learners in a process of their own, for `seconds` each."""
    outcomes, death = in_child(seconds=seconds)
    wrong = [f"{name}: {what}" for name, tried in outcomes.items() for what in tried.wrong]
    total = {
        count: sum(getattr(tried, count) for tried in outcomes.values())
        for count in ("interleavings", "answers", "callbacks")
    }
    broken = wrong[:5]
    if death:
        broken.append(f"the process died after {len(outcomes)} learners: {death[:300]}")
    return Section(
        "threads",
        f"{len(outcomes)} learners, {len(METHODS)} methods, "
        f"{total['interleavings']:,} interleavings, "
        f"{total['answers']:,} answers, {total['callbacks']:,} callbacks refused   "
        f"crashes {int(bool(death))}   wrong answers {len(wrong)}",
        broken,
        {**total, "crashes": int(bool(death)), "wrong": len(wrong)},
    )

"""Whether a healthy node is learned from again, whatever happened before, and how soon."""

from __future__ import annotations

from rig.conformance.section import Section
from rig.liveness import RECOVERY_S, all_faults, recover


def liveness_section(*, depth: int) -> Section:
    """Every trace of up to `depth` faults; both kinds of node and dtype."""
    walked = [faults for n in range(1, depth + 1) for faults in all_faults(n)]
    ends = [
        recover(faults, mute=i % 2 == 0, dtype=("float32", "int16")[i // 2 % 2])
        for i, faults in enumerate(walked)
    ]
    never = sum(end.seconds is None for end in ends)
    late = sum(not end.in_time for end in ends) - never
    longest = max((end.seconds for end in ends if end.seconds is not None), default=0.0)
    twice = sum(end.learned_twice for end in ends)
    broken = [f"{end.faults}: {end.seconds} s" for end in ends if not end.in_time][:3]
    if twice:
        broken.append(f"{twice} samples learned twice")
    return Section(
        "liveness",
        f"traces walked {len(ends):,}: longest time until learned from again {longest:.1f} s "
        f"(limit {RECOVERY_S:g} s), later {late}, never {never}   samples learned twice {twice}",
        broken,
        {"traces": len(ends), "longest_s": longest, "late": late, "never": never},
        taken="simulated clock",
    )

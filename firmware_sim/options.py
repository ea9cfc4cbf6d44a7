"""Options of a simulated node and its link, and the objects they describe."""

from __future__ import annotations

import contextlib
import math
import secrets
import sys
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.cli import arguments
from edgesvm.cli.options import option
from edgesvm.data.rows import SampleSource
from edgesvm.link.files import open_rows
from edgesvm.link.keyed import read_key
from edgesvm.serve.process import StatusLine
from firmware_sim.limits.profiles import PROFILES, profile
from firmware_sim.line import (
    MIXES,
    FaultInjector,
    Line,
    PtyLink,
    SimulatedLink,
    TcpLink,
    fault_rates,
)
from firmware_sim.line.faults import FAULTS
from firmware_sim.node import SIGNALS, FrameNode, Node, RawRotatingMachine, TextNode
from firmware_sim.node.node import LABEL_MODES
from firmware_sim.node.raw_signals import DEFECTS

PROFILE = "device whose baud and buffers apply: " + "; ".join(
    f"{one.name}: {one.summary}" for one in PROFILES.values()
)
RAW = (
    "the samples that the rotating machine's sensor measures, a housing's acceleration on two "
    "axes, instead of features of its windows"
)


number = arguments.numeric(float, lambda value: not math.isnan(value), "a number")


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """What a node sends, and at what pace."""

    TITLE: ClassVar[str] = "what is sent"

    signal: str = option("rotating", "synthetic sensor", choices=SIGNALS)
    replay: str | None = option(None, "send the rows of a .csv, .npz or .rec", unit="FILE")
    label_column: str | None = option(
        None, "label column of a CSV: name or index; none: no label", unit="NAME"
    )
    drop_column: tuple[str, ...] = option(
        (), "a CSV column that is not a feature; may be repeated", unit="NAME", repeat=True
    )
    regress: bool = option(False, "the labels of --replay are numbers, not classes")
    labels: str = option("inline", "how labels are sent to the host", choices=LABEL_MODES)
    samples: int | None = option(None, "stop after N samples", unit="N", check=arguments.count)
    rate: float | None = option(
        None,
        "samples per second; default: as fast as the link accepts",
        unit="HZ",
        check=number,
    )
    raw_signal: bool = option(False, RAW)
    signal_rate: float | None = option(
        None,
        "samples per second of the raw signal, sent at --rate; default: as --rate, else 2000",
        unit="HZ",
        check=number,
    )
    onset: float | None = option(
        None,
        "the raw rotating machine is normal until then, such as 10m, and then its fault grows; "
        "default: it comes and goes",
        unit="TIME",
        check=arguments.duration,
    )
    growth: float | None = option(
        None,
        "how long a fault grows after --onset; default 5m",
        unit="TIME",
        check=arguments.duration,
    )
    defect: str | None = option(
        None,
        "what fails in the raw rotating machine; default outer-race, of the bearing",
        choices=DEFECTS,
    )
    text: bool = option(False, "send text lines: no handshake, no predictions back")
    key: str | None = option(None, "tag the frames with the key in FILE", unit="FILE")
    seed: int = option(0, "random seed of signal and faults", unit="SEED", check=arguments.seed)

    def source(self) -> SampleSource:
        """What the node measures, or the rows of the file."""
        of_machine = {"onset_s": self.onset, "growth_s": self.growth, "defect": self.defect}
        given: dict[str, Any] = {name: of for name, of in of_machine.items() if of is not None}
        if self.replay is None and self.raw_signal:
            return self._raw_source(given)
        if self.raw_signal or given or self.signal_rate is not None:
            raise ValueError(
                "--signal-rate, --onset, --growth and --defect are of a raw signal"
                if self.replay is None
                else "--replay sends the rows of the file as they are: leave out the options of "
                "raw signals"
            )
        if self.replay is not None:
            return open_rows(
                self.replay,
                label_column=self.label_column,
                drop_columns=self.drop_column,
                targets=self.regress,
            )
        return SIGNALS[self.signal](self.seed)

    def _raw_source(self, given: dict[str, Any]) -> SampleSource:
        if self.signal != "rotating":
            raise ValueError(f"--signal {self.signal} has no raw samples; rotating has")
        if self.onset is None and self.growth is not None:
            raise ValueError("--growth needs --onset")
        if rate := self.signal_rate or self.rate:
            given["rate"] = rate
        return RawRotatingMachine(self.seed, **given)

    def node(self, device: str | None) -> Node:
        """The node, with the buffers of a profile."""
        source = self.source()
        settings: dict[str, Any] = {
            "rate": self.rate,
            "samples": self.samples,
            "label_mode": self.labels,
        }
        tx_bytes = profile(device).tx_bytes if device else None
        if self.text:
            if self.key:
                raise ValueError("--key needs frames and does not apply with --text")
            if tx_bytes:
                settings["tx_bytes"] = max(tx_bytes, 512)
            return TextNode(source, **settings)
        if tx_bytes:
            # The buffer must hold at least one sample, even if the profile's is smaller.
            settings["tx_bytes"] = max(tx_bytes, 8 * source.n_features + 64)
        return FrameNode(
            source,
            key=None if self.key is None else read_key(self.key),
            boot_id=secrets.randbits(32),  # differs at each start, as on a board, whatever the seed
            **settings,
        )


@dataclass(frozen=True, kw_only=True)
class LineSettings:
    """The link of a node: its kind, speed and faults."""

    TITLE: ClassVar[str] = "the link"

    link: str = option("pty", "a pseudo-terminal or TCP", choices=("pty", "tcp"))
    symlink: str | None = option(None, "a stable name for the pseudo-terminal", unit="NAME")
    tcp_port: int = option(0, "port number; 0 picks a free one", unit="P", check=arguments.seed)
    baud: float | None = option(
        None, "speed of the link; default: unlimited", unit="B", check=number
    )
    flow_control: bool = option(
        False, "RTS and CTS are wired: the line waits for a busy host, and loses nothing"
    )
    profile: str | None = option(None, PROFILE, choices=PROFILES)
    faults: str = option("none", f"fault mix: {', '.join(MIXES)}", unit="MIX", choices=MIXES)
    fault: tuple[str, ...] = option(
        (),
        "probability per frame, overrides the mix: "
        + "; ".join(f"{name}: {kind.summary}" for name, kind in FAULTS.items()),
        unit="KIND=RATE",
        repeat=True,
    )
    json: bool = option(False, "print the report as one JSON line")

    def open(self) -> SimulatedLink:
        return TcpLink(self.tcp_port) if self.link == "tcp" else PtyLink(self.symlink)

    def line(self, link: SimulatedLink, node: NodeSettings) -> Line:
        """The line between this link and a node."""
        rates = fault_rates(self.faults, self.fault)
        faults = None
        if any(rates.values()):
            delimiter = ord("\n") if node.text else 0
            faults = FaultInjector(rates, seed=node.seed, delimiter=delimiter)
        baud = self.baud
        if self.profile is not None:
            device = profile(self.profile)
            if baud is not None and baud > device.max_baud:
                raise ValueError(
                    f"--baud {baud:g}: {device.name} supports at most {device.max_baud}"
                )
            # A profile sets the speed unless --baud does.
            baud = device.baud if baud is None else baud
        return Line(link, baud=baud, faults=faults, flow_control=self.flow_control)


class NodeStatus(StatusLine):
    """A line about the node, rewritten in place; nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        super().__init__(quiet=not sys.stderr.isatty())
        self._started = time.monotonic()

    def __call__(self, node: Node, line: Line) -> None:
        self.show(lambda: self._text(node, line))

    def _text(self, node: Node, line: Line) -> str:
        last, figure = node.scorer.score.rolling, "MAE" if node.targets else "accuracy"
        return (
            f"{node.samples_sent:,} sent  {node.samples_dropped:,} dropped  "
            f"{node.scorer.received:,} predicted  "
            f"{figure} {'-' if last is None else f'{last:.3f}'}  "
            f"faults {len(line.faults.ledger) if line.faults else 0}  "
            f"{time.monotonic() - self._started:.0f} s"
        )


def closing_source(source: SampleSource) -> contextlib.AbstractContextManager:
    """A context that closes the source if it has a file."""
    return contextlib.closing(source) if hasattr(source, "close") else contextlib.nullcontext()

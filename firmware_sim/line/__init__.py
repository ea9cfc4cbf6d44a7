"""The line between node and host: links, speed, faults, and the ledger of all faults."""

from firmware_sim.line.faults import MIXES, fault_rates
from firmware_sim.line.injector import FaultInjector
from firmware_sim.line.ledger import Ledger
from firmware_sim.line.line import Line
from firmware_sim.line.links import MemoryLink, PtyLink, SimulatedLink, TcpLink

__all__ = [
    "MIXES",
    "FaultInjector",
    "Ledger",
    "Line",
    "MemoryLink",
    "PtyLink",
    "SimulatedLink",
    "TcpLink",
    "fault_rates",
]

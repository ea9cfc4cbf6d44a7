"""A whole run: node and line stepped in time, an edge process at the other end, the report."""

from firmware_sim.harness.edge import EdgeProcess, Memory
from firmware_sim.harness.pump import Pump
from firmware_sim.harness.report import Report
from firmware_sim.harness.run import simulate

__all__ = ["EdgeProcess", "Memory", "Pump", "Report", "simulate"]

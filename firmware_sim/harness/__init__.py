"""A whole run: node and line driven in real time, a host process at the other end, a report."""

from firmware_sim.harness.edge import EdgeProcess
from firmware_sim.harness.pump import InMemory, Pump
from firmware_sim.harness.report import Report
from firmware_sim.harness.run import simulate

__all__ = ["EdgeProcess", "InMemory", "Pump", "Report", "simulate"]

"""The conformance run: every fault injected and counted, every limit held."""

from firmware_sim.conformance.run import conform
from firmware_sim.conformance.section import Section, as_json

__all__ = ["Section", "as_json", "conform"]

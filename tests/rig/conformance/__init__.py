"""The conformance run: every fault injected and counted, every limit held."""

from rig.conformance.run import conform
from rig.conformance.section import Section, as_json

__all__ = ["Section", "as_json", "conform"]

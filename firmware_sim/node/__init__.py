"""The simulated node: its signals, the frames or lines it sends, and the score of predictions."""

from firmware_sim.node.frame_node import FrameNode
from firmware_sim.node.node import Node
from firmware_sim.node.raw_signals import RawRotatingMachine
from firmware_sim.node.signals import SIGNALS, PumpFlow, RotatingMachine
from firmware_sim.node.text_node import TextNode

__all__ = [
    "SIGNALS",
    "FrameNode",
    "Node",
    "PumpFlow",
    "RawRotatingMachine",
    "RotatingMachine",
    "TextNode",
]

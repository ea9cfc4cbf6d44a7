"""A simulated sensor node: signals, the link it speaks on, its faults, and the device's limits."""

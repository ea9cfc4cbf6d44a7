"""StreamSVM and its kernel form (Rai, Daumé III & Venkatasubramanian 2008)."""

"""ByteSVM: random features that learn, in integers."""

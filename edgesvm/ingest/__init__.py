"""From a port's bytes to samples, and predictions back. It knows no learner."""

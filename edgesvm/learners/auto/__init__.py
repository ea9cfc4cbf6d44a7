"""A learner that chooses among others."""

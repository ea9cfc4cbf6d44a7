"""Drift: when a learner's errors become more, in fixed memory."""

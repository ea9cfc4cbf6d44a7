"""Probabilities, and prices of errors, around any learner."""

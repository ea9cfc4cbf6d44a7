"""Preprocessing of a sensor's raw features, inside the learner's memory."""

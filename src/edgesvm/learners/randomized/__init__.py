"""Learners that solve an SVM through random samples of its data."""

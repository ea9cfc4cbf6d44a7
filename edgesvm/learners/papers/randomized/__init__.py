"""Learners that solve an SVM by solving random samples of the data."""

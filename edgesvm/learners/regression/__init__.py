"""Regressors of a stream: a number is predicted, with an interval."""

"""Targets in time: forecasts, and virtual sensors."""

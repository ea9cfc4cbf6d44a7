"""Learners as other packages have them. Each module imports its package, so import it by name."""

"""Learners of what is normal, without labels."""

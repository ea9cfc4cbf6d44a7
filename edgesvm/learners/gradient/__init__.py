"""Learners by gradient steps that scale themselves."""

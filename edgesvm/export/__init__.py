"""Learners as C99 that learns and predicts in the host's own arena; see `folder.export`.

``floor/`` is written by hand; ``translated/`` is made of the compiled cores by the build.
"""

"""Gradient steps that scale themselves, and random Fourier features."""

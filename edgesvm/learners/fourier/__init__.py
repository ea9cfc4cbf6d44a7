"""Kernel machines on random Fourier features."""

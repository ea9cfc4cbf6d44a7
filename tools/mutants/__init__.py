"""Measure what the test suite catches: small mistakes, one at a time, for a test to find."""

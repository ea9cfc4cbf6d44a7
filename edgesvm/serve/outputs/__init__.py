"""Predictions leave the host: each sink has a thread that passes on the answers in a journal."""

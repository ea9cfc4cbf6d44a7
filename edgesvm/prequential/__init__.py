"""The test-then-learn loop, compiled: its tally, and the rows of a link that need nothing else."""

"""The batch solver, and learners that hold samples and solve on demand."""

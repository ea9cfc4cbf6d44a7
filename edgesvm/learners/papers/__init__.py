"""The systems that the papers compare with, and the batch learners of the papers."""

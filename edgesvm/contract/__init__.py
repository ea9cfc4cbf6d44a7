"""Shared by all learners below their public class: input checks, labels to class indices, entry
points of a core."""

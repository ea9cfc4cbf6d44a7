"""What comes between a sensor's raw features and a learner, in the learner's own bytes."""

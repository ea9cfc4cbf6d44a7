"""What every learner has in common below its public class: features in, labels to slots, doors to
a core."""

"""One job: samples from a source, a model that is asked and taught, and those who are told."""

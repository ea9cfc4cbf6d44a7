"""The online learners that the papers compare with: perceptrons, passive-aggressive, Pegasos,
LASVM."""

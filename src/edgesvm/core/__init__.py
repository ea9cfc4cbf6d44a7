"""The C floor: arithmetic, kernels, the arena and the random generator. It knows no Python
object."""

"""The C floor: arithmetic, kernels, the arena and the random generator, without Python objects."""

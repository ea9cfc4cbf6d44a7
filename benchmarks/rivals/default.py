"""The default learner beside the one in floats that it replaced, in the cells of `rivals.table`."""

from benchmarks.rivals.table import main

if __name__ == "__main__":
    main("rivals/default", ["byte", "fourier"])

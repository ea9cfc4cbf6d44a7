"""The learners that can be exported, in settings that reach every branch soon."""

from edgesvm import RBF, KernelStreamSVM, Linear, Polynomial, Standardized, StreamSVM


def stream(**params):
    return lambda dtype: StreamSVM(dtype=dtype, **params)


def kernel_stream(**params):
    return lambda dtype: KernelStreamSVM(dtype=dtype, C=10.0, **params)


def scaled(make):
    return lambda dtype: Standardized(learner=make(dtype))


# name -> (maker of a learner of a dtype, features)
SETTINGS = {
    "stream": (stream(), 5),
    "stream, of the paper": (lambda dtype: StreamSVM.of_paper(dtype=dtype), 7),
    "stream, upper": (stream(bound="upper", C=10.0), 33),
    "stream, last weights": (stream(average=False, C=10.0), 16),
    "stream, not normalized": (stream(normalize=False, C=3.0), 17),
    "stream, lookahead": (stream(lookahead=6), 9),
    "stream, lookahead, upper": (stream(lookahead=6, bound="upper"), 9),
    "stream, balls": (stream(n_balls=4), 9),
    "stream, balls, upper": (stream(n_balls=4, bound="upper"), 9),
    "stream, balls by reach": (stream(n_balls=4, bound="upper", join="reach"), 9),
    "stream, balanced": (stream(class_weight="balanced"), 5),
    "scaled stream": (scaled(stream(C=10.0)), 9),
    "scaled stream, balanced": (scaled(stream(class_weight="balanced")), 40),
    "kernel stream": (scaled(kernel_stream(max_vectors=20)), 5),
    "kernel stream, upper": (scaled(kernel_stream(max_vectors=20, bound="upper")), 9),
    "kernel stream, newton": (scaled(kernel_stream(max_vectors=20, when_full="newton")), 9),
    "kernel stream, newton, narrow": (
        scaled(kernel_stream(max_vectors=12, when_full="newton", kernel=RBF(0.4))),
        3,
    ),
    "kernel stream, cubic": (
        scaled(kernel_stream(max_vectors=12, when_full="newton", kernel=Polynomial(3, 0.1, 1.0))),
        12,
    ),
    "kernel stream, linear": (kernel_stream(max_vectors=12, kernel=Linear()), 4),
}

"""The learners that can be exported, in settings that reach every branch soon."""

from edgesvm import (
    AdaGradSVR,
    ByteSVM,
    Calibrated,
    Chain,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    KernelNovelty,
    Standardized,
    StreamSVM,
    WindowFeatures,
)


def stream(**params):
    return lambda dtype: StreamSVM(dtype=dtype, **params)


def fourier(**params):
    return lambda dtype: FourierSVM(dtype=dtype, n_directions=80, **params)


def byte(**params):
    return lambda dtype: ByteSVM(**{"n_bytes": 600} | params)


def gaussian(**params):
    return lambda dtype: GaussianNovelty(
        **{"dtype": dtype, "alarm_rate": 0.002, "warm_up": 30, **params}
    )


def kernel_novelty(max_vectors=16, **params):
    return lambda dtype: KernelNovelty(
        dtype=dtype, alarm_rate=0.002, warm_up=30, max_vectors=max_vectors, **params
    )


def calibrated(make, **params):
    return lambda dtype: Calibrated(learner=make(dtype), **params)


def of(kind, **params):
    return lambda dtype: kind(dtype=dtype, **params)


def scaled(make, **params):
    return lambda dtype: Standardized(learner=make(dtype), **params)


def adagrad_svr(**params):
    return lambda dtype: AdaGradSVR(dtype=dtype, **params)


def fourier_svr(**params):
    return lambda dtype: FourierSVR(dtype=dtype, **{"n_directions": 80} | params)


TWO = (0, 1)
FOUR = (-1, 1, 4, 9)
NORMAL = (-1, 1)  # of which only the second is learned
NUMBERS = None  # targets of a regressor
# name -> (maker of a learner of a dtype, features, classes)
SETTINGS = {
    "stream": (stream(), 5, TWO),
    "stream, of the paper": (lambda dtype: StreamSVM.of_paper(dtype=dtype), 7, TWO),
    "stream, upper": (stream(bound="upper", C=10.0), 33, TWO),
    "stream, last weights": (stream(average=False, C=10.0), 16, TWO),
    "stream, not normalized": (stream(normalize=False, C=3.0), 17, TWO),
    "stream, lookahead": (stream(lookahead=6), 9, TWO),
    "stream, lookahead, upper": (stream(lookahead=6, bound="upper"), 9, TWO),
    "stream, balls": (stream(n_balls=4), 9, TWO),
    "stream, balls, upper": (stream(n_balls=4, bound="upper"), 9, TWO),
    "stream, balls by reach": (stream(n_balls=4, bound="upper", join="reach"), 9, TWO),
    "stream, balanced": (stream(class_weight="balanced"), 5, TWO),
    "scaled stream": (scaled(stream(C=10.0)), 9, TWO),
    "scaled stream, until": (scaled(stream(C=10.0), until=200), 9, TWO),
    "scaled stream, clipped": (scaled(stream(C=10.0), until=600, clip=1.0), 9, TWO),
    "scaled stream, not clipped": (scaled(stream(C=10.0), clip=None), 9, TWO),
    "scaled stream, balanced": (scaled(stream(class_weight="balanced")), 40, TWO),
    "fourier": (scaled(fourier()), 5, TWO),
    "fourier, of four": (scaled(fourier(n_classes=4, loss="logistic")), 7, FOUR),
    "fourier, orthogonal": (scaled(fourier(directions="orthogonal")), 20, TWO),
    "fourier, one width": (fourier(gamma=0.1, directions="independent"), 4, TWO),
    "byte": (byte(n_bytes=1024), 9, TWO),
    "byte, one scale": (byte(scale="common", learn_directions=False), 20, TWO),
    "byte, balanced": (byte(class_weight="balanced"), 3, TWO),
    "byte, of four": (byte(n_classes=5, class_weight="balanced"), 7, FOUR),
    "byte, of four as they come": (byte(n_bytes=900), 7, FOUR),
    "byte, with a mean of four": (byte(n_bytes=8000, n_classes=4), 6, FOUR),
    "byte, calibrated": (calibrated(byte(n_classes=2)), 5, TWO),
    "gaussian novelty": (gaussian(), 6, NORMAL),
    "gaussian novelty, diagonal": (gaussian(covariance="diagonal", learn="all"), 6, NORMAL),
    "gaussian novelty, until": (gaussian(learn="until 400"), 6, NORMAL),
    "kernel novelty": (kernel_novelty(), 4, NORMAL),
    "kernel novelty, of many": (kernel_novelty(gamma=0.1, max_vectors=40), 9, NORMAL),
    "kernel novelty, all": (kernel_novelty(learn="all", gamma=0.5), 12, NORMAL),
    "kernel novelty, until": (kernel_novelty(learn="until 400"), 5, NORMAL),
    "kernel novelty, exact": (kernel_novelty(storage="exact"), 4, NORMAL),
    "kernel novelty, exact, until": (
        kernel_novelty(storage="exact", learn="until 400", gamma=0.1),
        9,
        NORMAL,
    ),
    "fourier svr": (scaled(fourier_svr(), missing="mean"), 9, NUMBERS),
    "fourier svr, alone": (fourier_svr(gamma=0.1, loss="squared"), 4, NUMBERS),
    "fourier svr, orthogonal": (
        scaled(fourier_svr(directions="orthogonal", loss="epsilon"), until=200),
        20,
        NUMBERS,
    ),
    "fourier svr, of a quantile": (
        scaled(fourier_svr(loss="pinball", quantile=0.8, coverage=0.5)),
        5,
        NUMBERS,
    ),
    "adagrad svr": (scaled(adagrad_svr()), 9, NUMBERS),
    "adagrad svr, late": (adagrad_svr(label_delay=7, learning_rate=1.0), 3, NUMBERS),
    "calibrated": (scaled(calibrated(stream())), 6, TWO),
    "calibrated, by price": (calibrated(scaled(fourier()), cost={1: 20.0}), 5, TWO),
    "calibrated, of four": (
        calibrated(scaled(fourier(n_classes=4)), cost={4: 3.0, -1: 0.5}),
        5,
        FOUR,
    ),
    "calibrated, by recall": (calibrated(scaled(stream()), min_recall={0: 0.9}), 6, TWO),
}


def chain(learner, **params):
    return lambda dtype: Chain(
        windows=WindowFeatures(rate=100, window=16, hop=6, dtype=dtype, **params),
        learner=learner(dtype),
    )


# Class -> small ones of it, for attacks on their snapshots, in all the ways that they store things
ATTACKED = {
    "StreamSVM": [(stream(), 2, TWO), (stream(n_balls=3, average=False), 2, TWO)],
    "FourierSVM": [
        (of(FourierSVM, n_directions=8, directions="orthogonal"), 2, TWO),
        (of(FourierSVM, n_directions=4, n_classes=3), 2, (4, 5, 7)),
    ],
    "ByteSVM": [(byte(n_bytes=300), 2, (4, 5, 7))],
    "FourierSVR": [
        (fourier_svr(n_directions=8), 2, NUMBERS),
        (scaled(fourier_svr(n_directions=4, directions="orthogonal"), missing="mean"), 2, NUMBERS),
    ],
    "AdaGradSVR": [(adagrad_svr(), 3, NUMBERS)],
    "GaussianNovelty": [(gaussian(), 3, NORMAL), (gaussian(learn="until 200"), 3, NORMAL)],
    "KernelNovelty": [
        (kernel_novelty(max_vectors=5), 2, NORMAL),
        (kernel_novelty(max_vectors=5, storage="exact"), 2, NORMAL),
    ],
    "Standardized": [(scaled(stream()), 3, TWO), (scaled(stream(), until=200), 3, TWO)],
    "Calibrated": [
        (calibrated(stream(), min_recall={0: 0.9}), 3, TWO),
        (calibrated(of(FourierSVM, n_directions=4, n_classes=4), cost={4: 3.0}), 2, FOUR),
    ],
    "Chain": [
        (chain(stream(), features="all", bands=[(5, 10), (20, 40)]), 2, TWO),
        (chain(gaussian(), features=["mean", "std"]), 2, NORMAL),
        (chain(stream(), features=["turns", "patterns"]), 2, TWO),
    ],
}

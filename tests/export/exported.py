"""The learners that can be exported, in settings that reach every branch soon."""

from edgesvm import (
    LASVM,
    RBF,
    AdaGradSVM,
    AdaGradSVR,
    BallVectorMachine,
    ByteSVM,
    Calibrated,
    Chain,
    Forgetron,
    FourierRLS,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    Linear,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    Polynomial,
    RobustStandardized,
    SharedTwinSVM,
    SimpleSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
    WindowFeatures,
)


def stream(**params):
    return lambda dtype: StreamSVM(dtype=dtype, **params)


def kernel_stream(**params):
    return lambda dtype: KernelStreamSVM(dtype=dtype, C=10.0, **params)


def adagrad(**params):
    return lambda dtype: AdaGradSVM(dtype=dtype, **params)


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


def twins(**params):
    return lambda dtype: TwinVectorMachine(dtype=dtype, C=10.0, **params)


def incremental(**params):
    return lambda dtype: IncrementalDecrementalSVM(dtype=dtype, C=10.0, **params)


def one_vs_one(make):
    return lambda dtype: OneVsOne(learner=make(dtype), n_classes=4)


def one_vs_rest(make):
    return lambda dtype: OneVsRest(learner=make(dtype), n_classes=4)


def robust(make, **params):
    return lambda dtype: RobustStandardized(learner=make(dtype), **params)


def ball(**params):
    return lambda dtype: BallVectorMachine(dtype=dtype, C=10.0, n_probes=8, max_iter=500, **params)


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


def fourier_rls(**params):
    return lambda dtype: FourierRLS(dtype=dtype, **{"n_directions": 9} | params)


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
    "kernel stream": (scaled(kernel_stream(max_vectors=20)), 5, TWO),
    "kernel stream, upper": (scaled(kernel_stream(max_vectors=20, bound="upper")), 9, TWO),
    "kernel stream, newton": (scaled(kernel_stream(max_vectors=20, when_full="newton")), 9, TWO),
    "kernel stream, newton, narrow": (
        scaled(kernel_stream(max_vectors=12, when_full="newton", kernel=RBF(0.4))),
        3,
        TWO,
    ),
    "kernel stream, cubic": (
        scaled(kernel_stream(max_vectors=12, when_full="newton", kernel=Polynomial(3, 0.1, 1.0))),
        12,
        TWO,
    ),
    "kernel stream, linear": (kernel_stream(max_vectors=12, kernel=Linear()), 4, TWO),
    "adagrad": (scaled(adagrad()), 6, TWO),
    "adagrad, logistic, of four": (scaled(adagrad(loss="logistic", n_classes=4)), 6, FOUR),
    "adagrad, balanced": (adagrad(class_weight="balanced"), 3, TWO),
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
    "byte, one vs one": (one_vs_one(byte(n_classes=2)), 4, FOUR),
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
    "twins": (scaled(twins(max_twins=20, gamma=0.3)), 5, TWO),
    "twins, by feature space": (scaled(twins(max_twins=12, gamma=0.1, merge="feature")), 9, TWO),
    "incremental": (scaled(incremental(max_vectors=20, gamma=0.3)), 5, TWO),
    "incremental, oldest": (
        scaled(incremental(max_vectors=16, kernel="linear", when_full="oldest")),
        9,
        TWO,
    ),
    "one vs one": (scaled(one_vs_one(stream())), 6, FOUR),
    "one vs rest": (scaled(one_vs_rest(kernel_stream(max_vectors=8))), 6, FOUR),
    "one vs one, scaled parts": (one_vs_one(scaled(stream(lookahead=3))), 6, FOUR),
    "one vs rest, of two": (one_vs_rest(stream()), 6, TWO),
    "robust": (robust(stream()), 6, TWO),
    "robust, clipped": (robust(adagrad(), clip=3.0), 6, TWO),
    "perceptron": (scaled(of(Perceptron)), 6, TWO),
    "passive-aggressive": (scaled(of(PassiveAggressive, variant="PA-II")), 6, TWO),
    "passive-aggressive, PA": (of(PassiveAggressive, variant="PA"), 6, TWO),
    "pegasos": (scaled(of(Pegasos)), 6, TWO),
    "pegasos, projected": (scaled(of(Pegasos, batch_size=5, project=True)), 17, TWO),
    "kernel perceptron": (scaled(of(KernelPerceptron, max_vectors=12)), 5, TWO),
    "kernel perceptron, random": (
        scaled(of(KernelPerceptron, max_vectors=12, when_full="random")),
        5,
        TWO,
    ),
    "forgetron": (scaled(of(Forgetron, max_vectors=12, gamma=0.3)), 5, TWO),
    "lasvm": (scaled(of(LASVM, max_vectors=20, gamma=0.3)), 5, TWO),
    "lasvm, linear": (scaled(of(LASVM, max_vectors=9, kernel="linear", C=3.0)), 9, TWO),
    "shared twins": (
        scaled(of(SharedTwinSVM, max_twins=20, n_classes=4, kernel="poly", settle_after=300)),
        6,
        FOUR,
    ),
    "shared twins, of two": (of(SharedTwinSVM, max_twins=16, gamma=0.3, settle_after=500), 5, TWO),
    "simple": (scaled(of(SimpleSVM, max_vectors=20, gamma=0.3, when_full="oldest")), 5, TWO),
    "simple, ignoring": (scaled(of(SimpleSVM, max_vectors=60, kernel="linear")), 9, TWO),
    "ball vector": (scaled(ball(max_core=24, gamma=0.3)), 5, TWO),
    "ball vector, not shrunk": (scaled(ball(max_core=40, gamma=0.1, shrink=False)), 19, TWO),
    "ball vector, cubic": (
        ball(max_core=17, kernel=Polynomial(3, 0.5, 1.0), normalize=True, cache="2KiB"),
        7,
        TWO,
    ),
    "ball vector, epsilon alone": (scaled(ball(max_core=33, margin_tol=None)), 4, TWO),
    "one vs one, balls": (scaled(one_vs_one(ball(max_core=12))), 6, FOUR),
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
    "fourier rls": (scaled(fourier_rls(), missing="mean"), 5, NUMBERS),
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
    "calibrated, one vs one": (
        calibrated(scaled(one_vs_one(stream())), min_recall={9: 0.8}),
        6,
        FOUR,
    ),
}


def chain(learner, **params):
    return lambda dtype: Chain(
        windows=WindowFeatures(rate=100, window=16, hop=6, dtype=dtype, **params),
        learner=learner(dtype),
    )


# Class -> small ones of it, for attacks on their snapshots, in all the ways that they store things
ATTACKED = {
    "StreamSVM": [(stream(), 2, TWO), (stream(n_balls=3, average=False), 2, TWO)],
    "KernelStreamSVM": [
        (kernel_stream(max_vectors=5), 2, TWO),
        (kernel_stream(max_vectors=5, when_full="newton"), 2, TWO),
    ],
    "AdaGradSVM": [(adagrad(loss="logistic"), 3, TWO), (adagrad(n_classes=3), 2, (4, 5, 7))],
    "FourierSVM": [
        (of(FourierSVM, n_directions=8, directions="orthogonal"), 2, TWO),
        (of(FourierSVM, n_directions=4, n_classes=3), 2, (4, 5, 7)),
    ],
    "ByteSVM": [(byte(n_bytes=300), 2, (4, 5, 7))],
    "FourierSVR": [
        (fourier_svr(n_directions=8), 2, NUMBERS),
        (scaled(fourier_svr(n_directions=4, directions="orthogonal"), missing="mean"), 2, NUMBERS),
    ],
    "FourierRLS": [
        (fourier_rls(), 2, NUMBERS),
        (scaled(fourier_rls(n_directions=5, directions="orthogonal")), 2, NUMBERS),
    ],
    "AdaGradSVR": [(adagrad_svr(), 3, NUMBERS)],
    "GaussianNovelty": [(gaussian(), 3, NORMAL), (gaussian(learn="until 200"), 3, NORMAL)],
    "KernelNovelty": [
        (kernel_novelty(max_vectors=5), 2, NORMAL),
        (kernel_novelty(max_vectors=5, storage="exact"), 2, NORMAL),
    ],
    "TwinVectorMachine": [(twins(max_twins=6, gamma=0.3), 2, TWO)],
    "SharedTwinSVM": [
        (of(SharedTwinSVM, max_twins=6, settle_after=90), 2, TWO),
        (of(SharedTwinSVM, max_twins=6, n_classes=4), 2, FOUR),
    ],
    "IncrementalDecrementalSVM": [
        (incremental(max_vectors=7, gamma=0.3), 2, TWO),
        (incremental(max_vectors=7, kernel="linear", max_margin=3), 2, TWO),
    ],
    "SimpleSVM": [(of(SimpleSVM, max_vectors=7, when_full="oldest"), 2, TWO)],
    "BallVectorMachine": [
        (ball(max_core=6, gamma=0.3), 2, TWO),
        (ball(max_core=6, max_rounds=3, kernel="linear", normalize=True), 2, TWO),
    ],
    "OneVsOne": [(one_vs_one(kernel_stream(max_vectors=3)), 2, FOUR)],
    "OneVsRest": [(one_vs_rest(scaled(stream())), 2, FOUR)],
    "Standardized": [(scaled(stream()), 3, TWO), (scaled(stream(), until=200), 3, TWO)],
    "RobustStandardized": [(robust(stream()), 3, TWO)],
    "Perceptron": [(of(Perceptron), 3, TWO)],
    "PassiveAggressive": [(of(PassiveAggressive), 3, TWO)],
    "Pegasos": [(of(Pegasos, batch_size=5, project=True), 3, TWO)],
    "KernelPerceptron": [
        (of(KernelPerceptron, max_vectors=5), 2, TWO),
        (of(KernelPerceptron, max_vectors=5, when_full="random"), 2, TWO),
    ],
    "Forgetron": [(of(Forgetron, max_vectors=5, gamma=0.3), 2, TWO)],
    "LASVM": [(of(LASVM, max_vectors=6, gamma=0.3), 2, TWO)],
    "Calibrated": [
        (calibrated(stream(), min_recall={0: 0.9}), 3, TWO),
        (calibrated(adagrad(n_classes=4), cost={4: 3.0}), 2, FOUR),
    ],
    "Chain": [
        (chain(stream(), features="all", bands=[(5, 10), (20, 40)]), 2, TWO),
        (chain(gaussian(), features=["mean", "std"]), 2, NORMAL),
        (chain(stream(), features=["turns", "patterns"]), 2, TWO),
    ],
}

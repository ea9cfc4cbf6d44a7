"""`of_paper` of every learner whose default differs from its paper."""

from each import each

from edgesvm import (
    BallVectorMachine,
    CoreVectorMachine,
    KernelStreamSVM,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
    PassiveAggressive,
    Pegasos,
    RandSVM,
    StreamSVM,
    TwinVectorMachine,
)

PRINTED = {
    BallVectorMachine: {"margin_tol": None},
    CoreVectorMachine: {"bulk": False, "margin_tol": None},
    KernelStreamSVM: {"bound": "upper", "when_full": "share", "C": 1.0},
    OneClassBallVectorMachine: {"margin_tol": None},
    OneClassCoreVectorMachine: {"bulk": False, "margin_tol": None},
    PassiveAggressive: {"fit_intercept": False},
    Pegasos: {"project": True, "fit_intercept": False},
    RandSVM: {"returns": "last"},
    StreamSVM: {"bound": "upper", "slack": "paper", "average": False, "fit_intercept": False},
    TwinVectorMachine: {"forgetting": None, "rejection": "paper"},
}


@each("kind", PRINTED)
def test_of_paper(kind):
    printed = kind.of_paper()
    assert type(printed) is kind
    default = kind().get_params(deep=False)
    for name, value in PRINTED[kind].items():
        assert getattr(printed, name) == value
        assert name == "C" or default[name] != value
    name, value = next(iter(PRINTED[kind].items()))
    assert getattr(kind.of_paper(**{name: default[name]}), name) == default[name]

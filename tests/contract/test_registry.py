"""What is registered, and in which order parameters stand in a snapshot: it may not change."""

from inspect import signature

import pytest

from edgesvm.contract.registry import LEARNERS, OTHERS, also_loaded, kind_of, registered
from edgesvm.errors import CorruptModelError

K = "kernel gamma degree coef0"
TWINS = f"max_twins {K} C m1 m2 eta merge merge_side rejection max_margin dtype control_C"
ORDERS = {
    "StreamSVM": (
        "C bound n_balls join lookahead slack average class_weight normalize fit_intercept dtype"
    ),
    "KernelStreamSVM": f"max_vectors {K} C bound dtype when_full class_weight",
    "BatchSVM": f"C {K} tol max_samples when_full cache shrinking max_iter dtype",
    "ReservoirSVM": f"max_samples C {K} tol cache shrinking max_iter seed dtype",
    "IncrementalSVM": (
        f"scheme batch_size max_vectors C {K} tol cache max_iter dtype"
        " errors_kept correct_kept seed"
    ),
    "WindowedSVM": f"window scheme batch_size max_vectors C {K} tol cache max_iter dtype",
    "RandSVM": "solver epsilon delta separable k c max_passes seed returns",
    "CoreVectorMachine": (
        f"epsilon C {K} normalize max_core n_probes cache max_iter seed dtype margin_tol"
    ),
    "BallVectorMachine": (
        f"epsilon C {K} normalize max_core n_probes multi_scale shrink max_rounds"
        " cache max_iter seed dtype margin_tol"
    ),
    "TwinVectorMachine": TWINS,
    "TwinDictionarySVM": f"{TWINS} settle_after r",
    "IncrementalDecrementalSVM": f"max_vectors {K} C when_full max_margin dtype",
    "SimpleSVM": f"max_vectors {K} C when_full max_passes dtype",
    "FourierSVM": "n_directions gamma loss learning_rate n_classes seed dtype directions"
    " weigh_widths class_weight",
    "Auto": "max_bytes seed dtype",
    "AdaGradSVM": "loss learning_rate n_classes dtype class_weight",
    "Perceptron": "fit_intercept dtype class_weight",
    "PassiveAggressive": "variant C fit_intercept dtype class_weight",
    "Pegasos": "lambda_ batch_size project fit_intercept dtype class_weight",
    "KernelPerceptron": f"max_vectors {K} when_full seed dtype",
    "Forgetron": f"max_vectors {K} dtype",
    "LASVM": f"max_vectors {K} C tau dtype class_weight",
    "GaussianNovelty": "covariance alarm_rate learn warm_up dtype",
    "KernelNovelty": "max_vectors gamma noise alarm_rate learn warm_up dtype storage",
    "Standardized": "learner until",
    "RobustStandardized": "learner clip",
    "FourierFeatures": "learner n_directions gamma seed directions",
    "Calibrated": "learner cost min_recall",
    "OneVsOne": "learner n_classes",
    "OneVsRest": "learner n_classes",
}


def test_every_learner_is_registered():
    assert LEARNERS.keys() == ORDERS.keys()


@pytest.mark.parametrize("name", ORDERS)
def test_parameters_stand_in_their_order(name):
    kind = kind_of(name)
    assert list(kind().get_params(deep=False)) == ORDERS[name].split()
    accepted = signature(kind).parameters.values()
    assert {p.name for p in accepted} == set(ORDERS[name].split())
    assert all(p.kind is p.KEYWORD_ONLY for p in accepted)


def test_what_is_no_learner_has_names_of_its_own():
    assert {name: list(signature(kind).parameters) for name, kind in OTHERS.items()} == {
        "WindowFeatures": ["window", "hop", "rate", "bands", "features", "dtype"],
        "Chain": ["windows", "learner", "label"],
    }
    assert all(kind_of(name) is kind for name, kind in OTHERS.items())
    assert not LEARNERS.keys() & OTHERS.keys()
    for decorator in (registered, also_loaded):
        for name in ("Chain", "StreamSVM"):
            with pytest.raises(ValueError, match=f"named '{name}' is already registered"):
                decorator(type(name, (), {}))


def test_an_unknown_name_is_a_snapshot_of_another_release():
    with pytest.raises(CorruptModelError, match="'Nope', which this release does not know"):
        kind_of("Nope")

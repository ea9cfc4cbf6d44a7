"""What scikit-learn asks of an estimator besides `fit` and `predict`. These methods are called by
scikit-learn, so they import it; nothing else does."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

Self = TypeVar("Self", bound="Estimator")
Method = TypeVar("Method", bound=Callable[..., Any])

ROUTED = ("fit", "partial_fit", "predict", "decision_function", "score")
NO_STREAM = "its learner is no regressor of a stream, such as FourierSVR"
NOT_ROUTED = ("self", "X", "y")


class Available:
    """A method that is there only where an attribute of the learner is what it should be."""

    def __init__(self, method: Callable[..., Any], attribute: str, value: bool, what: str) -> None:
        functools.update_wrapper(cast(Any, self), method)
        self._method, self._attribute, self._value, self._what = method, attribute, value, what

    def __get__(self, learner: Any, kind: type[Any] | None = None) -> Any:
        if learner is not None and getattr(learner, self._attribute) != self._value:
            raise AttributeError(
                f"{type(learner).__name__} has no {self._method.__name__}: {self._what}"
            )
        return self._method.__get__(learner, kind)


def of_classes(method: Method) -> Method:
    """Method decorator: regressors do not have it."""
    return cast(Method, Available(method, "regresses", False, "it predicts a number"))


def of_streams(method: Method) -> Method:
    """Method decorator: only regressors of a stream, and what is around one, have it."""
    return cast(Method, Available(method, "forecasts", True, NO_STREAM))


class Estimator:
    """An estimator of scikit-learn, which tells them by these methods and not by their class."""

    takes_labels: ClassVar[bool] = True  # False: what it learns is normal
    regresses: ClassVar[bool] = False  # y is a number, and so is what is predicted

    @property
    def n_classes_planned(self) -> int:
        """Largest number of labels."""
        return 2

    def _most_to_come(self, n_features: int) -> int:
        """Largest number of labels of a `fit`."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        if self.regresses:
            return Tags(
                estimator_type="regressor",
                target_tags=TargetTags(required=True),
                regressor_tags=RegressorTags(),
                input_tags=InputTags(sparse=True),
            )
        multi_class = self._most_to_come(1) > 2
        return Tags(
            estimator_type="classifier" if self.takes_labels else "outlier_detector",
            target_tags=TargetTags(required=self.takes_labels),
            classifier_tags=ClassifierTags(multi_class=multi_class) if self.takes_labels else None,
            input_tags=InputTags(sparse=True),
        )

    # -- metadata routing: which methods of a learner in a pipeline get `sample_weight` and the like

    def get_metadata_routing(self) -> Any:
        """The requests set so far, a ``MetadataRequest``; a copy."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        for method in ROUTED:
            for name in inspect.signature(getattr(self, method)).parameters:
                if name not in NOT_ROUTED:
                    getattr(request, method).add_request(param=name, alias=None)
        return copy.deepcopy(getattr(self, "_metadata_request", request))

    def set_fit_request(self: Self, **requests: bool | str | None) -> Self:
        """Whether `fit` gets these arguments: True, False, the name under which they are given, or
        None, which raises if they are given."""
        return self._set_request("fit", requests)

    def set_partial_fit_request(self: Self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `partial_fit`."""
        return self._set_request("partial_fit", requests)

    def set_predict_request(self: Self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `predict`."""
        return self._set_request("predict", requests)

    def set_decision_function_request(self: Self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `decision_function`."""
        return self._set_request("decision_function", requests)

    def set_score_request(self: Self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `score`."""
        return self._set_request("score", requests)

    def _set_request(self: Self, method: str, requests: dict[str, bool | str | None]) -> Self:
        routing = self.get_metadata_routing()
        known = getattr(routing, method)
        for name, asked in requests.items():
            if name not in known.requests:
                taken = ", ".join(known.requests)
                raise TypeError(f"{method} takes no {name!r} besides X and y; it takes {taken}")
            known.add_request(param=name, alias=asked)
        self._metadata_request = routing
        return self

    # -- in a notebook -----------------------------------------------------------------------------

    def _repr_html_(self) -> str | None:
        """The picture that scikit-learn draws, once it is imported."""
        if "sklearn" not in sys.modules:
            return None
        from sklearn.utils import estimator_html_repr

        html: str = estimator_html_repr(self)
        return html

"""Options that cut raw samples into windows, and the learner behind them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from edgesvm.cli import arguments
from edgesvm.cli.learner_options import said
from edgesvm.contract.registry import kind_of
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.preprocessing.window_features import WindowFeatures

# What means nothing without --window, by the name of the option.
OF_WINDOWS = ("hop", "rate", "bands", "features", "label_of")


@dataclass(frozen=True)
class WindowSettings:
    """How raw samples are cut into windows; without `window` they are not."""

    window: int | None = None
    hop: int | None = None
    rate: float | None = None
    bands: str | None = None
    features: str | None = None
    label_of: str | None = None

    @classmethod
    def of(cls, options: argparse.Namespace, *, rate: bool = False) -> WindowSettings:
        """Raises ValueError if an option of windows is given without ``--window``; `rate`: other
        samples have one too."""
        settings = arguments.read(cls, options)
        given = settings.given()
        if rate:
            given.pop("--rate", None)
        if settings.window is None and given:
            option, value = next(iter(given.items()))
            raise ValueError(f"{option} {value} is for windows of raw samples: give --window N")
        return settings

    def given(self) -> dict[str, Any]:
        """The options given, with their values."""
        return {
            _option(name): getattr(self, name)
            for name in ("window", *OF_WINDOWS)
            if getattr(self, name) is not None
        }

    @property
    def rows_apart(self) -> int:
        """Raw samples from one row of the learner to the next; 1 without windows."""
        return 1 if self.window is None else self.hop or max(self.window // 2, 1)

    def windows(self, period_us: float = 0, dtype: str = "float32") -> WindowFeatures | None:
        """The windows; None without them.

        Parameters
        ----------
        period_us : float
            Microseconds between raw samples, as their source says; 0 if it does not.
        dtype : str
            That of the learner.

        Raises
        ------
        ValueError
            A value is out of range.
        """
        if self.window is None:
            return None
        cut: WindowFeatures = kind_of("WindowFeatures")(
            window=self.window,
            hop=self.rows_apart,
            rate=self.rate or (1e6 / period_us if period_us else 1.0),
            bands=self.bands or "",
            features=self.features or "default",
            dtype=dtype,
        )
        return cut

    def chain(
        self,
        learner: Learner,
        n_channels: int,
        memory: int | str,
        *,
        period_us: float = 0,
        fixed: bool = False,
    ) -> Chain | Learner:
        """`learner` behind the windows, as large as the memory allows; just the learner without
        windows.

        Parameters
        ----------
        learner : Learner
            Not allocated, and neither is what is returned: call ``allocate(n_channels)``.
        n_channels : int
            Numbers in a raw sample.
        memory : int or str
            Bytes, windows included.
        period_us : float
            As for `windows`.
        fixed : bool
            Keep the learner's own capacity.

        Raises
        ------
        MemoryBudgetError
            It does not fit.
        ValueError
            A value is out of range.
        """
        cut = self.windows(period_us, learner.dtype)
        if cut is None:
            with said():
                return learner.fitted_into(memory, n_channels, fixed=fixed)
        label = self.label_of or "majority"
        whole: Chain = kind_of("Chain")(windows=cut, learner=learner, label=label)
        with said():
            return whole.fitted_into(memory, n_channels, fixed=fixed)

    def contradicted(self, model: Chain | Learner) -> list[tuple[str, str]]:
        """The options given that `model`, which was loaded, does not have.

        Returns
        -------
        list of (str, str)
            What the model has, and the option as it was given.
        """
        found = []
        for option, value in self.given().items():
            name = option[2:].replace("-", "_")
            if isinstance(model, Learner) or not hasattr(model.windows_, "bands"):
                found.append((f"no {option}", f"{option} {value}"))
            elif not _same(model, name, value):
                found.append((f"{option} {_held(model, name)}", f"{option} {value}"))
        return found


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def add_to(command: argparse.ArgumentParser, *, always: bool = False, labels: bool = True) -> None:
    """Add the options. `always`: the command cuts windows without ``--window`` too, and learns
    nothing from them."""
    usual = kind_of("WindowFeatures")().window if always else None
    group = command.add_argument_group("windows of raw samples")
    group.add_argument(
        "--window",
        type=arguments.count,
        default=usual,
        metavar="N",
        help=f"samples in a window; default {usual or 'no windows'}",
    )
    group.add_argument(
        "--hop",
        type=arguments.count,
        metavar="N",
        help="samples from window to window; default N/2",
    )
    group.add_argument(
        "--rate",
        type=arguments.rate,
        metavar="HZ",
        help="samples a second; default: as the source says",
    )
    group.add_argument("--bands", metavar="LO-HI,...", help="bands in Hz, such as 10-50,50-200")
    group.add_argument(
        "--features", metavar="NAMES", help="default, all, rocket, or names: std,crest,power"
    )
    if labels and not always:
        group.add_argument(
            "--label-of",
            choices=("majority", "last"),
            help="whose label is a window's; default majority",
        )


def _held(chain: Chain, name: str) -> object:
    """The value of an option, as one would give it."""
    windows: Any = chain.windows_
    if name == "bands":
        return ",".join(f"{lo:g}-{hi:g}" for lo, hi in windows._bands)
    return chain.label if name == "label_of" else getattr(windows, name)


def _same(chain: Chain, name: str, value: Any) -> bool:
    """Whether this value of an option gives the windows that `chain` has."""
    if name == "label_of":
        return value == chain.label
    held: Any = chain.windows_
    asked = replace(held, **{name: value})
    return all(
        getattr(asked, of) == getattr(held, of)
        for of in ("window", "hop", "rate", "_bands", "_features")
    )

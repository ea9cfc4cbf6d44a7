"""Options that cut raw samples into windows, and the learner behind them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from edgesvm.cli import arguments
from edgesvm.cli.learner_settings import said
from edgesvm.cli.options import option, option_name
from edgesvm.contract.registry import kind_of
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.preprocessing.window_features import WindowFeatures


@dataclass(frozen=True, kw_only=True)
class WindowSettings:
    """How raw samples are cut into windows; without `window` they are not."""

    TITLE: ClassVar[str] = "windows of raw samples"
    WITHOUT_WINDOWS: ClassVar[tuple[str, ...]] = ()  # what means something without them too

    window: int | None = option(
        None, "samples in a window; default no windows", unit="N", check=arguments.count
    )
    hop: int | None = option(
        None, "samples from window to window; default N/2", unit="N", check=arguments.count
    )
    rate: float | None = option(
        None, "samples a second; default: as the source says", unit="HZ", check=arguments.rate
    )
    bands: str | None = option(None, "bands in Hz, such as 10-50,50-200", unit="LO-HI,...")
    features: str | None = option(
        None, "default, all, rocket, or names: std,crest,power", unit="NAMES"
    )

    def __post_init__(self) -> None:
        for name in self.given():
            if self.window is None and name not in self.WITHOUT_WINDOWS:
                raise ValueError(
                    f"{option_name(name)} {getattr(self, name)} is for windows of raw samples: "
                    "give --window N"
                )

    def given(self) -> list[str]:
        """The names of the options given."""
        return [one.name for one in fields(self) if getattr(self, one.name) is not None]

    @property
    def rows_apart(self) -> int:
        """Raw samples from one row of the learner to the next; 1 without windows."""
        return 1 if self.window is None else self.hop or max(self.window // 2, 1)

    def windows(self, period_us: float = 0, dtype: str = "float32") -> WindowFeatures | None:
        """The windows, None without them, of raw samples so many microseconds apart; 0 if their
        source does not say. Raises ValueError for a value out of range."""
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
        """`learner` behind the windows, if there are any, as large as the memory in bytes allows;
        `fixed`: it keeps its own capacity. Nothing is allocated. Raises `MemoryBudgetError` if it
        does not fit, and as `windows` does."""
        cut, whole = self.windows(period_us, learner.dtype), learner
        if cut is not None:
            whole = kind_of("Chain")(windows=cut, learner=learner)
        with said():
            return whole.fitted_into(memory, n_channels, fixed=fixed)

    def contradicted(self, model: Chain | Learner) -> list[tuple[str, str]]:
        """What a loaded model has that the options given contradict, and the options."""
        found = []
        for name in self.given():
            has, told = option_name(name), f"{option_name(name)} {getattr(self, name)}"
            if isinstance(model, Learner) or not hasattr(model.windows_, "bands"):
                found.append((f"no {has}", told))
            elif not _same(model, name, getattr(self, name)):
                found.append((f"{has} {_held(model, name)}", told))
        return found


@dataclass(frozen=True, kw_only=True)
class UnlabelledWindows(WindowSettings):
    """Those of a command without labels, where single samples have a rate too."""

    WITHOUT_WINDOWS: ClassVar[tuple[str, ...]] = ("rate",)
    label_of: str | None = None


def _held(chain: Chain, name: str) -> object:
    """The value of an option, as one would give it."""
    windows: Any = chain.windows_
    if name == "bands":
        from edgesvm.preprocessing.window_features import as_bands

        pairs = as_bands(windows.bands, windows.rate)
        return ",".join(f"{lo:g}-{hi:g}" for lo, hi in pairs)
    return getattr(windows, name)


def _same(chain: Chain, name: str, value: Any) -> bool:
    """Whether this value of an option gives the windows that `chain` has."""
    held: Any = chain.windows_
    return _cut(replace(held, **{name: value})) == _cut(held)


def _cut(windows: WindowFeatures) -> tuple[Any, ...]:
    """All that tells windows apart, whatever way they were asked for."""
    from edgesvm.preprocessing.window_features import as_bands

    bands = as_bands(windows.bands, windows.rate)
    return windows.window, windows.hop, windows.rate, bands, windows.names(2)

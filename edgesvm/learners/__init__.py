"""The learners, imported on first use, and ``LEARNERS``, all that are registered, by name."""

from typing import Any

from edgesvm.catalogue import names_in, on_first_use
from edgesvm.contract import registry

_MODULE_OF = names_in("learners")
_import = on_first_use(__name__, _MODULE_OF)

__all__ = ["LEARNERS"]
__all__ += _MODULE_OF  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name == "LEARNERS":
        return registry.LEARNERS  # with all of them
    return _import(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

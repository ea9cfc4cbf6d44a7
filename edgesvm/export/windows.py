"""Windows of raw samples ahead of a model that learns no more."""

from __future__ import annotations

from edgesvm.export.sources import attributes
from edgesvm.export.units import Unit


def ram(windows: Unit | None) -> int:
    """Bytes of the windows that are open."""
    return 0 if windows is None or windows.plan is None else windows.plan.total


def header(prefix: str, windows: Unit | None) -> str:
    """What NAME.h says of them."""
    if windows is None:
        return ""
    n = windows.macros["n_channels"]
    return HEADER.format(p=prefix, P=prefix.upper(), n_channels=n, ram=ram(windows))


def source(windows: Unit | None) -> list[str]:
    """The last parts of NAME.c."""
    if windows is None or windows.plan is None:
        return []
    return [
        attributes(windows, windows.plan),
        f'#include "edgesvm/{windows.header}"',
        f"#define ESVM_WINDOWS(f) {windows.name}_##f\n#define ESVM_AT_WINDOWS 0",
        '#include "edgesvm/raw.h"',
    ]


HEADER = """\
/* Raw samples: the samples above are the features of their windows. */

#define {P}_N_CHANNELS {n_channels}     /**< numbers of a raw sample */
#define {P}_BYTES {ram}u         /**< sizeof({p}_t): the RAM of a stream's windows */

/** The windows that are open in a stream of raw samples; all zero at first. */
typedef struct {{
    uint64_t words[{P}_BYTES / 8];
}} {p}_t;

/** Take in one raw sample. If it completes a window, that is predicted.
 * @param x      {P}_N_CHANNELS numbers
 * @param score  the decision value of the window's class
 * @return the class index; -1 if there is no decision, -2 if no window is complete, -3 if a value
 *         was refused, NaN, infinite or beyond 1e15, and left no trace
 */
int {p}_push({p}_t *windows, const {p}_value *x, double *score);

/** Raw samples are missing here: the windows that are open are dropped. */
void {p}_gap({p}_t *windows);

"""

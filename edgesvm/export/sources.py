"""The text of NAME.h and NAME.c."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan, PlannedArray
from edgesvm.contract.labels import Labels
from edgesvm.export.costs import ahead_of, predicted
from edgesvm.export.units import (
    WRITTEN,
    Unit,
    keeps_nonzeros,
    number,
    raw_features,
    units_of,
    untranslated,
)
from edgesvm.learner import Learner, learner_in
from edgesvm.persist.format import CRC_BYTES
from edgesvm.persist.store import describe
from edgesvm.preprocessing.chain import Chain

LARGEST_ARENA = (1 << 31) - 1  # indices have 32 bits


@dataclass(frozen=True)
class Model:
    """What of a learner goes into the sources."""

    prefix: str
    title: str
    n_features: int
    dtype: str
    plan: MemoryPlan
    units: list[Unit]
    head: bytes
    arena: bytes
    empty: bytes
    labels: tuple[Any, ...]  # by class index, sorted
    order: tuple[int, ...]  # the learner's slots, as the labels sort
    sign: int
    is_novelty: bool  # only one class, index 1, is learned
    regresses: bool  # there are no classes: targets are numbers
    stack: int | None  # bytes that a call takes at most, on a Cortex-M3; None: not measured
    behind: MemoryPlan  # the learner's, which begins at the byte `base` of the arena
    base: int = 0
    windows: Unit | None = None  # ahead of a chain's learner
    is_last: bool = False  # whether a window has the label of its last sample
    names: tuple[str, ...] = ()  # of the features, or of the channels of windows

    @classmethod
    def of(cls, model: Learner | Chain, prefix: str, goal: str = "learn") -> Model:
        """What is needed to "learn" or to "decide". Raises ValueError for a learner that cannot."""
        learner = learner_in(model)
        core, params = learner._held_state
        built = type(learner)(**params)
        labels, width = core.labels, core.n_features
        regresses = bool(learner.regresses)
        if learner.takes_labels and not regresses and len(labels.in_slots) < 2:
            raise ValueError(
                "the model does not know its classes yet: name them to allocate(), or teach both"
            )
        if (lacks := untranslated(built, goal)) is not None:
            within = "" if lacks is built else f" within {type(built).__name__}"
            instead = "FourierSVR" if regresses else "FourierSVM"
            why = f"use {instead}"
            if goal == "learn":
                why = f"export it to decide only, or use {instead}"
            elif keeps_nonzeros(lacks):
                why = "use it without max_nonzeros"
            raise ValueError(
                f"{type(lacks).__name__}{within} cannot be exported to C to {goal}: {why}"
            )
        behind = built.plan(width)
        classes = labels.in_slots or None
        more: dict[str, Any] = {}
        empty: Any
        if isinstance(model, Chain):
            n_features = model.windows_._core.n_channels
            plan = model.plan(n_features)
            chain = type(model)(windows=model.windows_, learner=built, label=model.label)
            empty = chain.allocate(n_features, classes=classes)
            inner = empty.learner_
            more |= {
                "base": plan.offsets["learner"],
                "windows": raw_features(model.windows_, n_features, goal),
                "is_last": model.label == "last",
            }
        else:
            plan = behind
            empty = inner = built.like_new().allocate(width, classes=classes)
        if getattr(core, "layout", None) != getattr(inner.core, "layout", None):
            raise ValueError("the model has no room yet for one of its classes: teach it first")
        cost = predicted(built, width, "M3", ahead=ahead_of(model))
        if plan.total > LARGEST_ARENA:
            raise ValueError(f"an arena of {plan.total:,} bytes is too large for 32-bit indices")
        return cls(
            prefix=prefix,
            title=repr(model),
            n_features=width,
            dtype=learner.dtype,
            plan=plan,
            units=units_of(built, inner.core, labels.in_slots, goal),
            head=describe(model),
            arena=bytes(model.arena),
            empty=bytes(empty.arena),
            labels=sorted_labels(labels),
            order=labels.sorted_slots,
            sign=labels.sign,
            is_novelty=not learner.takes_labels,
            regresses=regresses,
            stack=None if cost is None else -(-cost.stack // 64) * 64,
            behind=behind,
            names=model._columns or (),
            **more,
        )

    @property
    def real(self) -> str:
        return "float" if self.dtype == "float32" else "double"

    @property
    def n_values(self) -> int:
        """Decision values of a sample."""
        return 1 if len(self.labels) <= 2 else len(self.labels)

    @property
    def all_units(self) -> list[Unit]:
        return self.units if self.windows is None else [self.windows, *self.units]

    @property
    def draws(self) -> bool:
        """Whether the innermost learner fills an empty arena in itself."""
        return self.units[0].name in WRITTEN and not self.units[0].is_part

    @property
    def has_probabilities(self) -> bool:
        return self.units[-1].name == "Calibrated"

    @property
    def beside(self) -> dict[str, int]:
        """Where a core's numbers behind the arena are, from the learner's first byte on."""
        found, at = {}, self.plan.total - self.base
        for unit in self.units:
            for name, first in unit.beside.items():
                found[f"beside_{name}"] = at
                at += -(-len(first) // 8) * 8
        found[""] = at
        return found

    def whole(self, arena: bytes) -> np.ndarray:
        """The words of a model: an arena, and what is behind it at first."""
        memory = bytearray(self.ram)
        memory[: len(arena)] = arena
        for unit in self.units:
            for name, first in unit.beside.items():
                at = self.base + self.beside[f"beside_{name}"]
                memory[at : at + len(first)] = first
        return np.frombuffer(memory, "<u8")

    @property
    def ram(self) -> int:
        """Bytes of a model: the arena, and what is behind it."""
        return self.base + self.beside[""]

    @property
    def snapshot_bytes(self) -> int:
        return len(self.head) + self.plan.total + CRC_BYTES

    def number_of(self, index: int) -> int:
        """What stands for a label on the wire: itself if it has 16 bits, else its class index."""
        y = self.labels[index]
        if not isinstance(y, int):
            return index
        return int(y) if -(1 << 15) <= y < 1 << 15 else index


def sorted_labels(labels: Labels) -> tuple[Any, ...]:
    """As in `classes_`: the order in which C counts its classes."""
    return tuple(labels.in_slots[slot] for slot in labels.sorted_slots)


# -- NAME.h ----------------------------------------------------------------------------------------


def header(model: Model) -> str:
    P, p = model.prefix.upper(), model.prefix
    stack = "" if model.stack is None else STACK.format(P=P, stack=model.stack)
    of_labels = {"sizes": "", "labels": "", "functions": TARGETS.format(p=p, n=model.n_features)}
    if not model.regresses:
        of_labels = labelled(model)
    return HEADER.format(
        **of_labels,
        stack=stack,
        P=P,
        p=p,
        title=comment(model.title),
        n_features=model.n_features,
        ram=model.ram,
        arena=model.plan.total,
        head=len(model.head),
        snapshot=model.snapshot_bytes,
        value=VALUE.format(p=model.prefix, real=model.real),
        names=named(p, model.labels, model.names),
    )


def labelled(model: Model) -> dict[str, str]:
    """What NAME.h says of labels, and the functions that learn and predict them."""
    P, p = model.prefix.upper(), model.prefix
    labels = comment(", ".join(f"{i} is {y!r}" for i, y in enumerate(model.labels)) or "none")
    values = (
        "value, positive for the larger label"
        if model.n_values == 1
        else "value of each label, as they sort"
    )
    channels, push = "", ""
    if model.has_probabilities:
        push = PROBABILITIES.format(p=p)
    if model.windows is not None:
        n = model.windows.macros["n_channels"]
        channels = f"#define {P}_N_CHANNELS {n}       /**< numbers of a raw sample */\n"
        push += PUSH.format(P=P, p=p)
    index = (NO_LABELS if model.is_novelty else A_LABEL).format(P=P, labels=labels)
    functions = CLASSES.format(P=P, p=p, n=model.n_features, index=index, values=values) + push
    n_labels = max(len(model.labels), 1)
    sizes = channels + SIZES.format(P=P, n_labels=n_labels, n_values=model.n_values)
    return {
        "sizes": sizes,
        "labels": LABELS.format(P=P, p=p, labels=labels),
        "functions": functions,
    }


def named(prefix: str, labels: tuple[Any, ...], names: tuple[str, ...]) -> str:
    """The names of features, as a comment, and of labels, as a table."""
    told = ""
    if names:
        listed = comment(", ".join(f"{j} {name}" for j, name in enumerate(names)))
        wrapped = fill(listed, 100, initial_indent=" * ", subsequent_indent=" * ")
        told += f"\n/* The features, by place:\n{wrapped} */\n"
    if labels:
        words = ", ".join(text_in_c(str(y)) for y in labels)
        told += (
            "\n/** Label by class index, for people. */\n"
            f"static const char *const {prefix}_label_names[] = {{{words}}};\n"
        )
    return told


def text_in_c(text: str) -> str:
    """A string literal of its UTF-8."""
    is_plain = [32 <= b < 127 and chr(b) not in '"\\?' for b in text.encode()]
    pairs = zip(text.encode(), is_plain, strict=True)
    return '"' + "".join(chr(b) if plain else f"\\{b:03o}" for b, plain in pairs) + '"'


def comment(text: str) -> str:
    """Text that does not end a comment."""
    return text.replace("*/", "* /")


HEADER = """\
/** @file {p}.h
 * {title}
 *
 * Learns and predicts in {ram} bytes of RAM, to the bit as edgesvm does on the host, and nothing
 * is allocated. Besides {p}_t there is no state: as many models of this kind may be used as there
 * are {p}_t. A call on one {p}_t must return before the next one on it begins.
 */
#ifndef EDGESVM_MODEL_{P}_H
#define EDGESVM_MODEL_{P}_H

#include "edgesvm/esvm.h"

#ifdef __cplusplus
extern "C" {{
#endif

#define {P}_N_FEATURES {n_features}     /**< numbers of a sample */
{sizes}#define {P}_BYTES {ram}u               /**< sizeof({p}_t): the RAM of a model */
#define {P}_ARENA_BYTES {arena}u        /**< of them, the host's arena: all that was learned */
{stack}#define {P}_HEAD_BYTES {head}u          /**< of a snapshot, before the arena; in flash */
#define {P}_SNAPSHOT_BYTES {snapshot}u  /**< of a whole snapshot, as the host saves it */
{names}
{value}
/** The model: the host's arena, byte for byte; behind it, if it is larger, scratch. */
typedef struct {{
    uint64_t words[{P}_BYTES / 8];
}} {p}_t;

#ifndef __AVR__ /* whose flash cannot be copied like this; {p}_begin can */
/** The model as it was exported, {ram} bytes of flash: `{p}_t model = {p}_saved;` */
extern const {p}_t {p}_saved;
#endif

/** What every snapshot of this model begins with: parameters and labels; in flash. */
extern const uint8_t {p}_head[{P}_HEAD_BYTES] ESVM_FLASH;

{labels}/** Begin with the model as it was exported. */
void {p}_begin({p}_t *model);

/** Forget what was learned. */
void {p}_reset({p}_t *model);

{functions}\
/** Write bytes `at` to `at` + n - 1 of the snapshot of {P}_SNAPSHOT_BYTES that the host would save;
 * beyond its end, zeros. The last four are a CRC, for which the whole model is read. */
void {p}_snapshot_read(const {p}_t *model, uint32_t at, uint8_t *out, uint32_t n);

/** Take over a snapshot, from here or from the host.
 * @return ESVM_UNCHANGED, or ESVM_BAD_SNAPSHOT: another length, a wrong CRC, other parameters or
 *         labels, or a number that is not finite, and the model is as it was; or what no stream of
 *         samples can have left, and it is as after {p}_reset
 */
esvm_status {p}_restore({p}_t *model, const uint8_t *bytes, uint32_t n);

#ifdef __cplusplus
}}
#endif
#endif
"""

SIZES = """\
#define {P}_N_LABELS {n_labels}         /**< classes */
#define {P}_N_VALUES {n_values}         /**< decision values of a sample */
"""

LABELS = """\
/** Label by class index, for what sends it on: {labels}. Class indices count the labels as they
 * sort, like the host's classes_, whichever came first. */
extern const int16_t {p}_labels[{P}_N_LABELS];

"""

CLASSES = """\
/** Learn one sample.
 * @param x      {n} numbers
 * @param index  {index}
 * @return ESVM_UNCHANGED or ESVM_CHANGED if it was learned; otherwise it left no trace
 */
esvm_status {p}_learn({p}_t *model, const {p}_value *x, int index);

/** The same with the sample's weight, finite and >= 0; one of weight 0 is only counted. */
esvm_status {p}_learn_weighted({p}_t *model, const {p}_value *x, int index, double weight);

/** Decide about one sample.
 * @param values  {P}_N_VALUES numbers: the decision {values}
 * @return ESVM_UNCHANGED, or why there is none: ESVM_NOT_FITTED, ESVM_NOT_FINITE
 */
esvm_status {p}_decide({p}_t *model, const {p}_value *x, double *values);

/** Predict the class of one sample.
 * @param score  one number: the decision value of that class
 * @return the class index, or -1 if there is no decision
 */
int {p}_predict({p}_t *model, const {p}_value *x, double *score);

"""

TARGETS = """\
/** Learn one sample.
 * @param x       {n} numbers
 * @param target  the number to be predicted
 * @param weight  1, or another number >= 0; a sample of weight 0 is only counted
 * @return ESVM_CHANGED, of weight 0 ESVM_UNCHANGED, if it was learned; otherwise it left no trace
 */
esvm_status {p}_learn({p}_t *model, const {p}_value *x, double target, double weight);

/** Predict the target of any sample.
 * @return ESVM_UNCHANGED, or why there is none: ESVM_NOT_FITTED, ESVM_NOT_FINITE
 */
esvm_status {p}_predict({p}_t *model, const {p}_value *x, double *value);

/** Predict the target of the sample that follows the last one learned, whose target tells of it.
 * @param out  the prediction, and the low and high end of its interval
 * @return as {p}_predict
 */
esvm_status {p}_forecast({p}_t *model, const {p}_value *x, double out[3]);

/** The interval of {p}_predict.
 * @param out  its low and high end
 * @return as {p}_predict
 */
esvm_status {p}_interval({p}_t *model, const {p}_value *x, double out[2]);

"""

VALUE = """\
/** A number of a sample. */
typedef {real} {p}_value;

/** A sample of whole numbers, as a converter or a bus gives them: n of them, to n numbers `x`. */
static inline void {p}_of_int16(const int16_t *raw, {p}_value *x, int n) {{
    while (n-- > 0) x[n] = raw[n];
}}
static inline void {p}_of_uint16(const uint16_t *raw, {p}_value *x, int n) {{
    while (n-- > 0) x[n] = raw[n];
}}
"""

A_LABEL = "class index, 0 to {P}_N_LABELS - 1: {labels}"
NO_LABELS = """\
always 1: this model has no labels, and finds out itself whether the sample is
 *               normal (1) or an alarm (0). Nobody can teach an alarm: 0 is refused, as
 *               ESVM_UNKNOWN_LABEL"""

PROBABILITIES = """\
/** The probabilities of one sample's labels.
 * @param out  a number for each label, as they sort
 * @return as {p}_decide
 */
esvm_status {p}_probabilities({p}_t *model, const {p}_value *x, double *out);

"""

STACK = """\
#define {P}_STACK_BYTES {stack}u       /**< stack of a call, about the most: GCC 12's call graph
                                             for a Cortex-M3 at -Os; elsewhere it differs */
"""

PUSH = """\
/** Take in one raw sample. If it completes a window, that is predicted, then learned with the label
 * of most of its samples, or of its last, as the model was made.
 * @param x          {P}_N_CHANNELS numbers
 * @param index      its class index; negative if it has no label. A learner of what is normal
 *                   learns every window, whatever it is
 * @param predicted  class index of the window; -1 if there is no prediction yet, -2 if no window is
 *                   complete
 * @param score      its decision value
 * @return ESVM_UNCHANGED or ESVM_CHANGED; ESVM_NOT_FINITE and ESVM_UNKNOWN_LABEL for a sample that
 *         was refused and left no trace
 */
esvm_status {p}_push(
    {p}_t *model, const {p}_value *x, int index, int *predicted, double *score);

/** Raw samples are missing here: the windows that are open are dropped. */
void {p}_gap({p}_t *model);

"""


# -- NAME.c ----------------------------------------------------------------------------------------


def source(model: Model) -> str:
    p = model.prefix
    parts = [
        f"/* {comment(model.title)}: exported by edgesvm. */",
        f'#include "{p}.h"\n#include "edgesvm/types.h"',
        names(model),
        f"#define ESVM_IS_FLOAT32 {int(model.dtype == 'float32')}\n"
        f"#define ESVM_CLASSES {model.units[-1].macros['n_classes']}",
        *(macros(model, unit) for unit in model.all_units),
        "\n".join(f'#include "edgesvm/{unit.header}"' for unit in model.all_units),
        saved(model),
        f"static const esvm_check {p}_checks[] ESVM_FLASH = {{\n{checks(model)}\n}};",
        f"static const esvm_word {p}_first[] ESVM_FLASH = {{\n{first_words(model)}\n}};",
        soundness(model),
        *itself(model),
        *(["#define ESVM_PROBABLE"] if model.has_probabilities else []),
        '#include "edgesvm/model.h"',
    ]
    if model.windows is not None:
        parts.append(
            f"#define ESVM_WINDOWS(f) {model.windows.name}_##f\n"
            f"#define ESVM_AT_WINDOWS {model.plan.offsets['windows']}\n"
            f"#define ESVM_LAST {int(model.is_last)}\n"
            f"#define ESVM_ONE_CLASS {int(model.is_novelty)}\n"
            '#include "edgesvm/chain.h"'
        )
    return "\n\n".join(parts) + "\n"


NAMES = """\
#define ESVM_NAME(f) {p}_##f
#define ESVM_TOP(f) {top}_##f
#define ESVM_AT {base}
#define ESVM_ARENA {P}_ARENA_BYTES
#define ESVM_HEAD {P}_HEAD_BYTES
"""
OF_LABELS = """\
#define ESVM_VALUES {P}_N_VALUES
#define ESVM_FIRST_LABEL {first}
#define ESVM_LABELS {P}_N_LABELS"""


def names(model: Model) -> str:
    p, P = model.prefix, model.prefix.upper()
    of_labels = "#define ESVM_REGRESSES"
    if not model.regresses:
        of_labels = OF_LABELS.format(P=P, first=int(model.is_novelty))
    return NAMES.format(p=p, P=P, top=model.units[-1].name, base=model.base) + of_labels


def itself(model: Model) -> list[str]:
    """What a learner does by functions of its own instead of tables and doubles."""
    if not model.draws:
        return []
    lines = [f"#define ESVM_DRAW(self) {model.units[0].name}_draw(self)"]
    if len(model.units) == 1:
        lines += ["#define ESVM_LEARN_ONE(self, x, slot) ESVM_TOP(learn_one)(self, x, slot)"]
    return ["\n".join(lines)]


def macros(model: Model, unit: Unit, scratch: Mapping[str, int] | None = None) -> str:
    """A core's attributes and labels, and where its arrays, or some as `scratch`, are."""
    plan = unit.plan or model.behind
    if unit is model.windows:
        return attributes(unit, plan)
    n_labels, sign, slots = len(model.labels), model.sign, model.order
    if unit.is_part:
        n_labels, sign, slots = 2, 1, (0, 1)
    order = ", ".join(map(str, slots)) or "0"
    lines = [
        f"#define {unit.name}_labels_n {n_labels}",
        f"#define {unit.name}_labels_sign {number(sign)}",
        f"static const signed char {unit.name}_labels_order[] = {{{order}}};",
    ]
    elsewhere = {**model.beside, **(scratch or {})}
    return "\n".join([*lines, attributes(unit, plan, elsewhere)])


def attributes(unit: Unit, plan: MemoryPlan, elsewhere: Mapping[str, int] | None = None) -> str:
    """A core's attributes, and where its arrays are: in the plan, or `elsewhere`."""
    lines = [f"#define {unit.name}_{name} {number(value)}" for name, value in unit.macros.items()]
    for name in unit.asked["at"]:
        at = (elsewhere or {}).get(name, plan.offsets.get(unit.stored(name), 0))
        lines.append(f"#define {unit.name}_AT_{name} {at}")
    shapes = {array.name: array.shape for array in plan.arrays}
    for name in unit.asked["len"]:
        lines.append(f"#define {unit.name}_LEN_{name} {shapes.get(name, (0,))[0]}")
    for name in unit.asked["has"]:
        lines.append(f"#define {unit.name}_HAS_{name} {int(unit.stored(name) in plan.offsets)}")
    return "\n".join(lines)


def saved(model: Model) -> str:
    p, P = model.prefix, model.prefix.upper()
    words = model.whole(model.arena)
    image = rows((f"0x{word:x}u" for word in words), 4) if words.any() else "    0"
    tables = [
        f"const {p}_t {p}_saved ESVM_FLASH = {{{{\n{image}\n}}}};",
        f"const uint8_t {p}_head[{P}_HEAD_BYTES] ESVM_FLASH = {{\n"
        f"{rows(map(str, model.head), 20)}\n}};",
    ]
    if not model.regresses:
        labels = ", ".join(str(model.number_of(i)) for i in range(len(model.labels))) or "0"
        tables.append(f"const int16_t {p}_labels[{P}_N_LABELS] = {{{labels}}};")
    return "\n\n".join(tables)


def checks(model: Model) -> str:
    """A line for the numbers that lie one behind the other and have the same bounds."""
    arrays = [(array, model.base) for array in model.behind.arrays]
    if model.windows is not None and model.windows.plan is not None:
        at = model.plan.offsets["windows"]
        own = [(array, at) for array in model.windows.plan.arrays]
        arrays = [(model.plan.arrays[0], 0), *own, *arrays]
    found: list[list[Any]] = []  # kind, bytes of a number, least, most, where, how many
    for array, begin in arrays:
        for kind, size, least, most, at, n in bounds(array):
            last: list[Any] = found[-1] if found else [None] * 6
            if last[:4] == [kind, size, least, most] and last[4] + size * last[5] == begin + at:
                last[5] += n
            elif n:
                found.append([kind, size, least, most, begin + at, n])
    return "\n".join(
        f"    {{{at}u, {n}u, {least}, {most}, ESVM_{kind}}},"
        for kind, _, least, most, at, n in found
    )


def bounds(array: PlannedArray) -> Iterator[tuple[str, int, str, str, int, int]]:
    """Kind, bytes, least and largest number, as whole numbers in the order of the values; where the
    numbers are in the plan, and how many."""
    size, n = array.dtype.itemsize, math.prod(array.shape)
    if array.is_zero:
        yield "BYTES", 1, "0", "0", array.offset, size * n
    elif (pair := array.bounds) is not None:
        kind = {"f4": "FLOATS", "f8": "DOUBLES", "i8": "COUNTS", "i1": "BYTES"}[array.dtype.str[1:]]
        least, most = (in_order(side) for side in pair.reshape(2, -1))
        for i, ends in enumerate(zip(least, most, strict=True)):
            yield kind, size, *ends, array.offset + size * i, n if len(least) == 1 else 1


def in_order(numbers: np.ndarray) -> list[str]:
    """Floats as whole numbers that are in the same order: their bits, of those below 0 negated."""
    if numbers.dtype.kind == "f":
        bits = numbers.view(f"i{numbers.itemsize}")
        numbers = np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)
    return [f"{number}" if abs(number) < 1 << 31 else f"{number}ll" for number in numbers.tolist()]


def soundness(model: Model) -> str:
    """NAME_is_sound, which asks every core whether a stream of samples can have left the arena."""
    lines = [f"!{unit.name}_fault(self)" for unit in model.units]
    if model.windows is not None:
        at = model.plan.offsets["windows"] - model.base
        votes = f"(const int64_t *)(self - {model.base}), ESVM_CLASSES, {len(model.labels)}"
        lines += [
            f"!{model.windows.name}_fault(self + {at})",
            f"!{model.windows.name}_votes_fault(self, {votes})",
        ]
    return SOUND.format(p=model.prefix, asked="\n        && ".join(lines))


SOUND = """\
static int {p}_is_sound(char *self) {{
    return {asked};
}}"""


def first_words(model: Model) -> str:
    """Numbers of an empty arena that are not zero; at least one entry."""
    words = model.whole(model.empty)
    if model.draws:
        [array] = [array for array in model.behind.arrays if array.name == "model"]
        at = (model.base + array.offset) // 8
        words = words.copy()
        words[at : at + -(-array.nbytes // 8)] = 0
    lines = [f"    {{{8 * i}u, 0x{words[i]:x}u}}," for i in np.flatnonzero(words)]
    return "\n".join(lines or ["    {0u, 0u},"])


def rows(items: Iterable[str], width: int) -> str:
    listed = list(items)
    return "\n".join(
        "    " + ", ".join(listed[i : i + width]) + "," for i in range(0, len(listed), width)
    )


# -- windows of raw samples ahead of a model that learns no more -----------------------------------


def windows_ram(windows: Unit | None) -> int:
    """Bytes of the windows that are open."""
    return 0 if windows is None or windows.plan is None else windows.plan.total


def windows_header(prefix: str, windows: Unit | None) -> str:
    """What NAME.h says of them."""
    if windows is None:
        return ""
    n = windows.macros["n_channels"]
    return WINDOWS.format(p=prefix, P=prefix.upper(), n_channels=n, ram=windows_ram(windows))


def windows_source(windows: Unit | None) -> list[str]:
    """The last parts of NAME.c."""
    if windows is None or windows.plan is None:
        return []
    return [
        attributes(windows, windows.plan),
        f'#include "edgesvm/{windows.header}"',
        f"#define ESVM_WINDOWS(f) {windows.name}_##f\n#define ESVM_AT_WINDOWS 0",
        '#include "edgesvm/raw.h"',
    ]


WINDOWS = """\
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

"""Base class of the compiled cores: the entry points for samples and predictions.

A subclass adds `step` and `decide`. Labels to class indices, arrays to pointers, and status to
exception are done here. Called with an ndarray of the learner's dtype, an entry point makes no
allocator call.
"""

cimport numpy as cnp
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from functools import partial

import numpy as np

from edgesvm.budget import check_numbers
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, UNCHANGED, UNKNOWN_LABEL
from edgesvm.errors import CorruptModelError, NotFittedError, as_sklearns, refusal
from edgesvm.contract.guard cimport Guard, Pace, is_due, start_pace
from edgesvm.contract.inputs import as_floats, as_out
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.contract.sparse cimport Batch, read_batch, row_at, scratch_for
from edgesvm.contract.team cimport Team

cnp.import_array()

cdef enum:
    MOST_SCORES = 1024      # that are found together, at least 8 for each of MAX_CLASSES


def common_arrays(n_classes=2):
    """The arrays at the start of every arena."""
    return [("n_seen", "i8", ()), ("n_updates", "i8", ()), ("n_per_class", "i8", (n_classes,))]


COMMON_ARRAYS = common_arrays()

cdef double LEAST_WEIGHT, LARGEST_WEIGHT, MOST_TIMES
cdef int64_t RECENT_WEIGHTS
from edgesvm.core.constants import LARGEST_WEIGHT, LEAST_WEIGHT, MOST_TIMES, RECENT_WEIGHTS


cdef class LearnerCore:
    """State and step of one learner, on `arena` as laid out by `plan`.

    Parameters
    ----------
    plan : MemoryPlan, which starts with `common_arrays`
    arena : Arena of at least plan.total bytes
    labels : Labels
    n_features : int
    dtype : numpy.dtype, float32 or float64
    owner : str, name of the public class
    guard : Guard, shared by all cores on the memory that `arena` is in
    """

    def __init__(
        self, plan, Arena arena, Labels labels, n_features, dtype, owner, Guard guard not None
    ):
        self.arena = arena
        self.guard = guard
        self.labels = labels
        self.plan = plan
        self.views = plan.cut(arena.memory)
        self.n_features = n_features
        self.dtype = np.dtype(dtype)
        self.owner = owner
        self.typenum = self.dtype.num
        self.is_float32 = self.typenum == cnp.NPY_FLOAT32
        self.common = <Common *> arena.at(0, sizeof(Common))
        self.n_per_class = <int64_t *> self.array("n_per_class")
        self.n_classes = len(self.views["n_per_class"])
        self.several = "scores" in self.views
        self.scores = <double *> self.array("scores") if self.several else NULL
        self.mean_weight = (
            <double *> self.array("mean_weight") if "mean_weight" in self.views else NULL)
        labels.wait_in(self.views.get("candidates"))

    cdef char *array(self, str name) except NULL:
        """First byte of the plan's array `name`."""
        view = self.views[name]
        if view.flags.owndata:      # scratch of a `reader`
            return <char *> cnp.PyArray_DATA(view)
        cdef int64_t offset = <char *> cnp.PyArray_DATA(view) - self.arena.base
        return self.arena.at(offset, view.nbytes)

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        return UNCHANGED

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = 0.0
        return UNCHANGED

    cdef Status pass_over(self, const void *x, double y) noexcept nogil:
        return UNCHANGED

    cdef Status probabilities(self, const void *x, double *out) noexcept nogil:
        return UNCHANGED

    cdef bint decides_alone(self) noexcept nogil:
        return False

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        return 0

    cdef void look_ahead(self, const void *x, int64_t n) noexcept nogil:
        pass

    cdef int begin_rows(self, int64_t n) except -1:
        return 0

    cdef void end_rows(self) noexcept:
        pass

    cdef Status forecast(self, const void *x, double *out) noexcept nogil:
        return UNCHANGED

    cdef Status learn_row(self, const void *x, int slot, double weight) noexcept nogil:
        """`learn_sample` of a class index."""
        return self.learn_sample(x, slot if self.several else 2 * slot - 1, slot, weight)

    cdef Status learn_sample(
        self, const void *x, double y, int slot, double weight
    ) noexcept nogil:
        """Learn one sample, or refuse it without a trace; `slot` is where it is counted. A sample
        of weight zero is counted as seen and otherwise ignored."""
        cdef Status status
        if weight == 0.0:
            self.common.n_seen += 1
            return UNCHANGED
        if not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
            return BAD_WEIGHT
        weight = self.capped(weight)
        status = self.weighed_step(x, y, weight)
        if status > CHANGED:
            return status
        if self.mean_weight != NULL and weight != self.mean_weight[0]:
            self.note_weight(weight)
        self.count(slot, status)
        return status

    cdef double capped(self, double weight) noexcept nogil:
        """The weight that a sample of this one has, after those so far"""
        cdef double most = 0.0
        if self.mean_weight != NULL:
            most = MOST_TIMES * self.mean_weight[0]
            if self.most_weight > 0.0:
                most = self.most_weight
        return weight if most == 0.0 or weight <= most else most

    def bound_weights(self, bint bound):
        """Whether to cap weights by their mean; a part leaves that to the whole."""
        self.mean_weight = <double *> self.array("mean_weight") if bound else NULL

    cdef void note_weight(self, double weight) noexcept nogil:
        """Add the weight of a sample that is learned now to the mean."""
        cdef double *mean = self.mean_weight
        if mean[0] == 0.0:
            mean[0] = weight
        else:
            mean[0] += (weight - mean[0]) / min(self.n_learned() + 1, RECENT_WEIGHTS)

    cdef void count(self, int slot, Status status) noexcept nogil:
        self.common.n_seen += 1
        self.common.n_updates += status == CHANGED
        self.n_per_class[slot] += 1

    cdef Status weighed_step(self, const void *x, double y, double weight) noexcept nogil:
        """`step`, by the weight of the sample's class."""
        return self.step(x, y, weight * self.class_weight(y) if self.balanced else weight)

    cdef double class_weight(self, double y) noexcept nogil:
        """n / (K n_k): samples learned, classes, and samples of this one, the sample included"""
        cdef int slot = <int> y if self.several else y > 0.0, other, n_classes = 2
        cdef int64_t before = self.n_per_class[slot] if slot < self.n_classes else 0
        if self.several:
            n_classes = before == 0
            for other in range(self.n_classes):
                n_classes += self.n_per_class[other] > 0
        return (self.n_learned() + 1) / (<double> n_classes * (before + 1))

    cdef int64_t n_learned(self) noexcept nogil:
        cdef int64_t total = self.n_per_class[0]
        cdef int slot
        for slot in range(1, self.n_classes):
            total += self.n_per_class[slot]
        return total

    cdef int slot_for(self, double value) noexcept nogil:
        """With two classes: the only class seen so far, else by the sign of the decision value."""
        if self.one_class:
            return value > 0.0
        if self.n_per_class[0] == 0:
            return 1
        if self.n_per_class[1] == 0:
            return 0
        return (value > 0.0) ^ (self.labels.sign < 0)

    # -- decisions as users see them: one value for two classes, else one per class, sorted --------

    cdef int n_answers(self) noexcept nogil:
        return self.labels.n if self.several and self.labels.n > 2 else 1

    @property
    def counts(self):
        """Samples learned, by class index; ndarray of shape (n_classes,), int64, a copy"""
        return np.array([self.n_per_class[slot] for slot in range(self.n_classes)], np.int64)

    @property
    def is_fitted(self):
        """Whether a sample was learned"""
        return self.n_learned() > 0

    @property
    def n_columns(self):
        """Decision values per sample: 1, or with more than two labels one per label."""
        return self.n_answers()

    cdef Status answer(self, const void *x, double *out) noexcept nogil:
        """Write the decision values into `out` (n_answers,)."""
        cdef double[MAX_CLASSES] place
        cdef double *scores = self.scores
        cdef Status status
        if scores == NULL:
            scores = place
        if not self.several:
            status = self.decide(x, out)
            out[0] *= self.labels.sign
            return status
        status = self.decide(x, scores)
        self.in_order(scores, out)
        if self.scores != NULL:
            memset(self.scores, 0, self.n_classes * sizeof(double))
        return status

    cdef void in_order(self, const double *scores, double *out) noexcept nogil:
        """The answers (n_answers,) that scores by slot make"""
        cdef int i, n = self.labels.n
        cdef const signed char *order = self.labels.order
        if n > 2:
            for i in range(n):
                out[i] = scores[order[i]]
        else:
            out[0] = scores[order[n - 1]] - scores[order[0]]

    cdef int64_t answer_block(self, const void *x, int64_t n, double *out) noexcept nogil:
        """`answer` of the first rows of n, into `out` (n, n_answers); how many"""
        cdef double[MOST_SCORES] scores
        cdef int64_t i
        if not self.several:
            n = self.decide_block(x, NULL, n, out)
            for i in range(n):
                out[i] *= self.labels.sign
            return n
        n = self.decide_block(x, NULL, min(n, MOST_SCORES // self.n_classes), scores)
        for i in range(n):
            self.in_order(scores + i * self.n_classes, out + i * self.n_answers())
        return n

    cdef void put_last(self, double *score) noexcept nogil:
        """Give classes without a sample a score below all others."""
        cdef int slot
        cdef bint any_yet = False
        cdef double least = 0.0
        for slot in range(self.n_classes):
            if self.n_per_class[slot] and (not any_yet or score[slot] < least):
                least, any_yet = score[slot], True
        for slot in range(self.n_classes):
            if not self.n_per_class[slot]:
                score[slot] = least - max(1.0, fabs(least))

    cdef cnp.ndarray row_to_decide(self, x):
        """`as_row`, in a memory that nobody is at work in. No other code runs from here on until
        the interpreter lock is let go."""
        cdef cnp.ndarray row = self.as_row(x)
        if self.guard.is_taken():
            self.guard.await_reading(False)     # then nobody writes what `decides_alone` reads
            self.guard.await_reading(self.decides_alone())
            if not self.is_row(row):
                raise changed(self.owner)
        return row

    cdef int refuse(self, Status status) except -1:
        """Raise if it is that of a refused sample."""
        if status > CHANGED:
            raise refusal(status, f"{self.owner}: the sample", self.dtype, self.labels.in_slots)
        return 0

    cdef int winner(self, const double *answers, double *score) noexcept nogil:
        """Class index predicted from `answers` (n_answers,); its decision value into `score`."""
        cdef int i, n = self.n_answers(), best = 0
        score[0] = answers[0]
        if not self.several:
            return self.slot_for(answers[0])
        if n == 1:
            return self.labels.order[self.labels.n == 2 and answers[0] > 0.0]
        for i in range(1, n):
            if answers[i] > answers[best]:
                best = i
        score[0] = answers[best]
        return self.labels.order[best]

    def learn_one(self, x, y, double weight=1.0):
        self.guard.begin()
        try:
            if self.successor is not None:
                return self.successor.learn_one(x, y, weight)
            return self.learn_alone(x, y, weight)
        finally:
            self.guard.end()

    def learn_late_one(self, x, y, issued, double weight=1.0):
        """`learn_one` of a sample whose target comes late; `issued` was said of it when it came."""
        self.guard.begin()
        try:
            if self.successor is not None:
                return self.successor.learn_late_one(x, y, issued, weight)
            self.was_issued(issued)
            try:
                return self.learn_alone(x, y, weight)
            finally:
                self.was_issued(None)
        finally:
            self.guard.end()

    def was_issued(self, said):
        """Of a regressor of a stream, and of what is in front of one: what `forecast_one` said of
        the sample that is learned next; None: its target is not late."""
        raise NotImplementedError

    cdef bint learn_alone(self, x, y, double weight) except -1:
        cdef cnp.ndarray row
        cdef list known = self.labels.values
        cdef int slot = 0
        cdef double target = 0.0
        cdef bint is_capped = self.capped(weight) < weight
        cdef unsigned long caller = self.guard.caller
        cdef Status status = UNKNOWN_LABEL
        self.guard.caller = self.guard.holder   # labels and arrays may run code of their own
        try:
            if self.regresses:
                target = self.as_target(y)
            row = self.as_row(x)
            if not self.regresses:
                slot = self.slot_of(y, &weight)
            if slot >= 0:
                if not self.is_row(row):
                    raise changed(self.owner)
                if self.regresses:
                    status = self.learn_sample(cnp.PyArray_DATA(row), target, 0, weight)
                else:
                    status = self.learn_row(cnp.PyArray_DATA(row), slot, weight)
        except BaseException:
            self.labels.hold(known)
            raise
        finally:
            self.guard.caller = caller
        if status > CHANGED:
            self.labels.hold(known)
            sample = f"{self.owner}: the sample ({self.kind_of_y} {y!r})"
            raise self.explained(self.labels.refused(status, y, sample, self.dtype, weight))
        self.n_capped += is_capped
        return status == CHANGED

    cdef int slot_of(self, y, double *weight) except -2:
        """The class index of a sample's label, which may get one here, or -1; of a label that must
        wait for one the weight is 0: the sample is seen, and no more."""
        cdef int slot = self.labels.find(y)
        if slot < self.labels.n:
            return slot
        if self.labels.is_rare(y, weight[0], self.common.n_seen):
            weight[0] = 0.0
            return 0
        return self.labels.place(y, self.counts, self.common.n_seen)

    def explained(self, error):
        """The refusal of the last sample, with what the core alone knows of it"""
        return error

    @property
    def kind_of_y(self):
        """What y is called in messages"""
        return "target" if self.regresses else "label"

    cdef double as_target(self, y) except? -1.0:
        """The target as a number; NaN and infinity are refused later."""
        try:
            return y
        except (TypeError, OverflowError) as error:
            raise TypeError(f"{self.owner}: the target {y!r} is not a number") from error

    # -- one sample: each of these is `respond` for something else ---------------------------------

    def decision_one(self, x, out=None):
        """The decision value, a float; with more than two labels an ndarray, `out` if given."""
        return self.respond(DECISION, x, out)

    def predict_one(self, x):
        return self.respond(LABEL, x, None)

    def predict_with_score(self, x):
        """Label of one sample and its decision value, from one decision."""
        if self.regresses:
            raise AttributeError(f"{self.owner} predicts numbers; there is no label with a score")
        return self.respond(LABEL_AND_SCORE, x, None)

    def probabilities_one(self, x, out=None):
        """Probabilities of one sample's labels, ndarray of shape (n_labels,); `out` if given."""
        return self.respond(PROBABILITIES, x, out)

    def interval_one(self, x):
        """Both ends of the interval of one sample's target."""
        return self.respond(INTERVAL, x, None)

    def forecast_one(self, x):
        """Value, and both ends of its interval, of the sample that follows the last one learned."""
        return self.respond(FORECAST, x, None)

    cdef object respond(self, Question question, x, out):
        """The answer for one sample, by this core or the one that took over its memory."""
        cdef double[MAX_CLASSES] place
        cdef double *values = place
        cdef double score
        cdef Status status
        cdef cnp.ndarray row = self.row_to_decide(x)
        cdef int n = self.n_answers()
        if self.successor is not None:
            return self.successor.respond(question, x, out)
        self.check_fitted()
        if question == PROBABILITIES or (question == DECISION and n > 1):
            out = self.room_for(out, self.labels.n if question == PROBABILITIES else n)
            values = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        if question == PROBABILITIES or question == INTERVAL:
            status = self.probabilities(cnp.PyArray_DATA(row), values)
        elif question == FORECAST:
            status = self.forecast(cnp.PyArray_DATA(row), values)
        else:
            status = self.answer(cnp.PyArray_DATA(row), values)
        self.refuse(status)
        if values != place:
            return out
        if question == INTERVAL:
            return values[0], values[1]
        if question == FORECAST:
            return values[0], values[1], values[2]
        if question == DECISION or self.regresses:
            return values[0]
        label = self.labels.values[self.winner(values, &score)]
        return label if question == LABEL else (label, score)

    cdef cnp.ndarray room_for(self, out, int64_t n):
        """`out`, or a new array of n values"""
        if out is None:
            return np.empty(n)
        return out if self.is_out(out, 1, n) else as_out(out, (n,))

    cdef bint is_out(self, out, int ndim, int64_t size) noexcept:
        """Whether decision values can be written into `out`, found without creating an object"""
        cdef cnp.ndarray array
        if not isinstance(out, cnp.ndarray):
            return False
        array = out
        return (cnp.PyArray_ISCARRAY(array) and cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT64
                and cnp.PyArray_NDIM(array) == ndim and cnp.PyArray_SIZE(array) == size)

    def learn_many(
        self, X not None, cnp.ndarray slots not None, cnp.ndarray weights=None,
        signed char[::1] predicted=None
    ):
        """Learn the first len(slots) rows of X (n, n_features), an ndarray or SparseRows, in order;
        stop at the first that is refused. A signal handler that raises, as Ctrl-C's does, stops it
        between two rows.

        slots : ndarray of shape (n,), int8; of a regressor the targets, float64
        predicted : (n,), OUT: what is predicted of each row before it is learned

        Returns
        -------
        n_learned : int, rows before the refused one
        status : Status of the refused row, else UNCHANGED
        """
        cdef int64_t i = 0
        cdef Status status
        self.guard.begin()
        try:
            self.begin_rows(len(slots))
            try:
                status = self.learn_rows(X, slots, weights, predicted, &i)
            finally:
                self.end_rows()
            return i, status if status > CHANGED else UNCHANGED
        finally:
            self.guard.end()

    cdef Status learn_rows(
        self, X, cnp.ndarray slots, cnp.ndarray weights, signed char[::1] predicted, int64_t *i
    ) except *:
        cdef int64_t n = len(slots)
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef const void *x
        cdef const signed char *slot = <const signed char *> cnp.PyArray_DATA(slots)
        cdef const double *target = self.first_number(slots, n) if self.regresses else NULL
        cdef const double *weight = self.first_number(weights, n)
        cdef signed char *out = &predicted[0] if predicted is not None and n else NULL
        cdef double[MAX_CLASSES] answers
        cdef double one
        cdef Status status = UNCHANGED
        cdef bint looks_ahead, is_capped
        cdef Pace pace
        self.read(&batch, X, scratch, n)
        looks_ahead = self.looks_ahead and batch.dense != NULL
        start_pace(&pace)
        with nogil:
            while i[0] < n:
                x = row_at(&batch, i[0])
                if x == NULL:
                    with gil:
                        raise changed(self.owner)
                if looks_ahead:
                    self.look_ahead(x, min(n - i[0], pace.left))
                if out != NULL:
                    status = self.answer(x, answers)
                    if status > CHANGED:
                        break
                    out[i[0]] = self.winner(answers, &one)
                one = 1.0 if weight == NULL else weight[i[0]]
                is_capped = self.capped(one) < one
                if target == NULL:
                    status = self.learn_row(x, slot[i[0]], one)
                else:
                    status = self.learn_sample(x, target[i[0]], 0, one)
                if status > CHANGED:
                    break
                i[0] += 1
                self.n_capped += is_capped
                if is_due(&pace):
                    with gil:
                        self.guard.look_at_signals()
                        self.read(&batch, X, scratch, n)
                        weight = self.first_number(weights, n)
                        if self.regresses:
                            target = self.first_number(slots, n)
        return status

    def decide_many(self, X not None, out=None, Team team=None):
        """Decision values of rows of X, an ndarray or SparseRows; by a team's threads, if given.

        Returns
        -------
        out : ndarray of shape (n,), or (n, n_columns) with more than one; `out` if given
        row : int, the number of the refused row, or n
        status : Status of the refused row
        """
        return self.respond_many(DECISION, X, out, team)

    def probabilities_many(self, X not None, out=None, Team team=None):
        """As `decide_many`, of the labels' probabilities; `out` has shape (n, n_labels). Of a
        regressor the ends of the intervals, (n, 2)."""
        return self.respond_many(PROBABILITIES, X, out, team)

    def predict_many(self, X not None, Team team=None):
        """Labels of rows of X, ndarray of shape (n,); and row and status as in `decide_many`."""
        return self.respond_many(LABEL, X, None, team)

    cdef object respond_many(self, Question question, X, out, Team team):
        cdef int64_t n = len(X), i = 0, n_values
        cdef tuple shape = (n,)
        cdef Status status
        cdef bint alone = self.begin_deciding()
        try:
            if self.successor is not None:
                return self.successor.respond_many(question, X, out, team)
            self.check_fitted()
            n_values = self.n_values(question)
            if question == PROBABILITIES or n_values > 1:
                shape = (n, n_values)
            if question == LABEL:
                out = np.zeros(n, np.int8)
            elif out is None:
                out = np.empty(shape)
            elif not self.is_out(as_out(out, shape), len(shape), n * n_values):
                raise changed(self.owner)
            self.begin_rows(n)
            try:
                status = self.decide_all(team, X, n, out, &i, question)
            finally:
                self.end_rows()
            return self.labels.of_slots(out) if question == LABEL else out, i, status
        finally:
            self.end_deciding(alone)

    cdef int n_values(self, Question question) noexcept nogil:
        """Numbers that are found for a sample"""
        if question != PROBABILITIES:
            return self.n_answers()
        return 2 if self.regresses else self.labels.n

    # -- by several threads ------------------------------------------------------------------------

    cdef Status decide_all(
        self, Team team, X, int64_t n, cnp.ndarray out, int64_t *i, Question question
    ) except *:
        """`decide_rows`, with the first row by this thread: it solves what is not solved yet."""
        cdef Status status
        if team is None:
            return self.decide_rows(X, n, out, i, question, None)
        status = self.decide_rows(X, min(1, n), out, i, question, None)
        if status > CHANGED or n <= 1:
            return status
        i[0], status = self.guard.beside(self.decide_apart, team, X, n, out, question)
        return status

    def decide_apart(self, Team team not None, X, int64_t n, out, Question question):
        """Decide all rows but the first, by a team. Returns the row that was refused, or n; and its
        status."""
        works = []
        for first, end in team.parts(1, n, self.arena.nbytes):
            reader = team.reader(self) if works else self
            works.append(partial(reader.decide_span, team, X, first, end, out, question))
        for row, status in team.run(works):
            if status > CHANGED:
                return row, status
        return n, UNCHANGED

    def decide_span(self, Team team not None, X, int64_t i, int64_t end, out, Question question):
        """Decide rows i to end - 1, in a thread of a team."""
        cdef Status status
        self.begin_rows(end - i)
        try:
            status = self.decide_rows(X, end, out, &i, question, team)
        finally:
            self.end_rows()
        return i, status

    @property
    def has_scratch(self):
        """Whether `decide` writes into the arena: see `decides_alone`."""
        return self.decides_alone()

    cdef Status decide_rows(
        self, X, int64_t n, cnp.ndarray out, int64_t *i, Question question, Team team
    ) except *:
        """Decision values or probabilities of rows i to n - 1 into `out`, or the slots of what is
        predicted, int8."""
        cdef int64_t n_values = self.n_values(question), size = cnp.PyArray_SIZE(out), done = 1
        cdef int64_t most = MOST_SCORES // n_values
        cdef double[MOST_SCORES] answers
        cdef char *place = <char *> cnp.PyArray_DATA(out)
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef Status status = UNCHANGED
        cdef Pace pace
        self.read(&batch, X, scratch, n)
        start_pace(&pace)
        with nogil:
            while i[0] < n and done > 0:
                done = self.answer_rows(
                    &batch, i[0], min(n - i[0], pace.left, most), question, answers, &status)
                if question == LABEL:
                    self.winners(answers, done, <signed char *> place + i[0])
                else:
                    memcpy(<double *> place + i[0] * n_values, answers,
                           max(done, 0) * n_values * sizeof(double))
                i[0] += max(done, 0)
                if done > 0 and is_due(&pace, done):
                    with gil:
                        self.guard.look_at_signals()
                        if team is not None and team.stopped:
                            break
                        self.read(&batch, X, scratch, n)
                        if question != LABEL and not self.is_out(out, cnp.PyArray_NDIM(out), size):
                            raise changed(self.owner)
                        place = <char *> cnp.PyArray_DATA(out)
        if done < 0:
            raise changed(self.owner)
        return status

    cdef int64_t answer_rows(
        self, Batch *batch, int64_t i, int64_t n, Question question, double *out, Status *status
    ) noexcept nogil:
        """Find the answers, or probabilities, of the first of n rows from i on; how many. 0: row i
        is refused; -1: it is no row any more"""
        cdef const void *x = row_at(batch, i)
        cdef int64_t done = 0
        if x == NULL:
            return -1
        if self.decides_in_blocks and batch.dense != NULL and question != PROBABILITIES:
            done = self.answer_block(x, n, out)
        if done == 0:
            status[0] = (
                self.probabilities(x, out) if question == PROBABILITIES else self.answer(x, out))
            done = status[0] <= CHANGED
        return done

    cdef void winners(
        self, const double *answers, int64_t n, signed char *slots
    ) noexcept nogil:
        """What is predicted from n samples' answers"""
        cdef int64_t k
        cdef double score
        for k in range(n):
            slots[k] = self.winner(answers + k * self.n_answers(), &score)

    cdef bint begin_deciding(self) except -1:
        """Whether this thread is alone; then another has the scratch to itself after it."""
        cdef bint alone
        while True:
            if self.guard.is_taken():
                self.guard.await_reading(False)     # nobody may write what `decides_alone` reads
            alone = self.decides_alone()
            if alone:
                self.guard.begin()
            else:
                self.guard.begin_sharing()
            if alone or not self.decides_alone():
                return alone
            self.guard.end_sharing()    # another thread has learned meanwhile

    cdef void end_deciding(self, bint alone) noexcept:
        if alone:
            self.guard.end()
        else:
            self.guard.end_sharing()

    cdef int read(self, Batch *batch, X, cnp.ndarray scratch, int64_t n) except -1:
        """Point `batch` at the first n rows of X."""
        if not read_batch(batch, X, scratch, self.typenum, self.n_features, n):
            raise changed(self.owner)
        return 0

    cdef const double *first_number(self, cnp.ndarray numbers, int64_t n) except? NULL:
        """The first of `n` weights or targets; NULL: there are none."""
        if numbers is None:
            return NULL
        if not (cnp.PyArray_NDIM(numbers) == 1 and cnp.PyArray_TYPE(numbers) == cnp.NPY_FLOAT64
                and cnp.PyArray_DIM(numbers, 0) >= n and cnp.PyArray_ISCARRAY_RO(numbers)):
            raise changed(self.owner)
        return <const double *> cnp.PyArray_DATA(numbers)

    cdef cnp.ndarray as_row(self, x):
        """`x` itself if it is an ndarray of the learner's dtype and length; else converted, or
        refused with an exception."""
        if cnp.PyArray_CheckExact(x) and self.is_row(x):
            return x
        return as_floats(x, self.dtype, 1, self.n_features, self.owner)

    cdef bint is_row(self, cnp.ndarray row) noexcept:
        return (cnp.PyArray_NDIM(row) == 1 and cnp.PyArray_TYPE(row) == self.typenum
                and cnp.PyArray_DIM(row, 0) == self.n_features
                and cnp.PyArray_ISCARRAY_RO(row))

    cdef int check_fitted(self) except -1:
        if self.n_learned() == 0:
            raise as_sklearns(NotFittedError)(
                f"{self.owner} has not learned a sample yet; call learn_one or partial_fit first")
        return 0

    cdef const char *fault(self) noexcept nogil:
        cdef int64_t learned = 0
        cdef int slot
        for slot in range(self.n_classes):
            if self.n_per_class[slot] > self.common.n_seen - learned:
                return b"the snapshot's counters are inconsistent"
            learned += self.n_per_class[slot]
            if slot >= self.labels.n and self.n_per_class[slot] and not self.regresses:
                return b"the snapshot counts samples of a class that has no label"
        if self.common.n_updates > learned:
            return b"the snapshot's counters are inconsistent"
        return NULL

    def check(self):
        """Raise CorruptModelError if no stream of samples could have produced this arena (it was
        read from a file)."""
        cdef const char *fault
        check_numbers(self.plan.arrays, self.views)
        with nogil:
            fault = self.fault()
        if fault != NULL:
            raise CorruptModelError(fault.decode())


def changed(owner):
    """The exception for an array that other code resized while it was being read."""
    return ValueError(f"{owner}: an array was given another shape while it was being read")

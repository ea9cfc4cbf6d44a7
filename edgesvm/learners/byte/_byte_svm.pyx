"""ByteSVM, compiled: what byte.h computes, behind the entry points of every learner.

The layout of the model follows from its bytes and the number of classes. A class that was not
planned takes its room from the last directions.
"""

from libc.math cimport rint
from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.logistic cimport sigmoid
from edgesvm.core.rng cimport splitmix64
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, UNKNOWN_LABEL, Status

cdef extern from *:     # lanes.h first: by it byte.h is the host's
    """
    #include "lanes.h"
    """

cdef extern from "byte.h" nogil:
    ctypedef struct byte_shape:
        int32_t n_features, n_kept, n_classes, n_vectors, n_directions
        int32_t has_mean, is_common, learns_directions, counts
        int32_t replays, is_balanced, n_slots, slot_bytes
        int32_t at_counts, at_shares, at_scale, at_u, at_w, at_mean, at_code, at_slots
        uint32_t key
        int32_t angle[4]
        int32_t angle_shift
        int32_t move[4]
        int32_t unit, unit_shift
        uint32_t stride[8]

    ctypedef struct byte_head:
        unsigned char n_classes
        uint16_t far_out
        unsigned short lapses[2]
        unsigned short amplitude[5]

    void byte_lay_out(
        byte_shape *s, int32_t n_bytes, int32_t n_features, int32_t n_classes, int32_t is_common,
        int32_t learns_directions, int32_t counts, int32_t replays, int32_t is_balanced,
        uint32_t key) noexcept
    void byte_reset(const byte_shape *s, char *model) noexcept
    void byte_grow(
        const byte_shape *s, const byte_shape *before, char *model,
        const int64_t *n_per_class) noexcept
    void byte_learn(
        const byte_shape *s, char *model, const float *x, int8_t *z, int y, int32_t weight,
        uint32_t n, const int64_t *n_per_class) noexcept
    void byte_decide(
        const byte_shape *s, char *model, const float *x, int8_t *z, int32_t *logit) noexcept
    int32_t byte_start(const byte_shape *s, int32_t p) noexcept
    int byte_all_finite(const byte_shape *s, const float *x) noexcept
    const char *byte_fault(const byte_shape *s, char *model) noexcept
    byte_head *byte_head_of(char *model) noexcept
    int byte_is_last_better(const byte_head *head) noexcept

cdef int64_t MOST_COUNTED = 2147483647      # samples after which the steps stay


cdef class ByteSVMCore(LearnerCore):
    """State and step; without n_classes, classes are added as they come."""
    cdef byte_shape shape
    cdef char *model
    cdef int8_t *z
    cdef readonly bint grows        # whether classes that were not planned are added
    cdef int32_t n_bytes, is_common, learns_directions, replays, is_balanced
    cdef int most_classes           # that leave directions
    cdef uint32_t key

    def __init__(
        self, *common, n_classes, most_classes, is_common, learns_directions, replays,
        is_balanced, seed,
    ):
        cdef uint64_t state = seed
        super().__init__(*common)
        self.grows = n_classes == 0
        self.several |= self.grows
        self.model = self.array("model")
        self.z = <int8_t *> self.array("coded")
        self.n_bytes = len(self.views["model"])
        self.is_common, self.learns_directions = is_common, learns_directions
        self.replays, self.is_balanced = replays, is_balanced
        self.key = <uint32_t> splitmix64(&state)
        self.most_classes = most_classes
        n_laid_out = byte_head_of(self.model).n_classes
        planned = n_classes or (self.labels.n if self.labels.closed else 2)
        if n_laid_out not in (0, planned) and self.common.n_seen == 0:      # the classes are new
            memset(self.model, 0, self.n_bytes)
            n_laid_out = 0
        has_grown = self.grows and 2 <= n_laid_out <= most_classes
        self.lay_out(n_laid_out if has_grown else planned)
        if n_laid_out == 0:
            byte_reset(&self.shape, self.model)

    cdef void lay_out(self, int n_classes) noexcept nogil:
        byte_lay_out(
            &self.shape, self.n_bytes, self.n_features, n_classes, self.is_common,
            self.learns_directions, self.grows, self.replays, self.is_balanced, self.key)
        if self.grows:
            self.n_classes = self.shape.n_classes
            if self.shape.counts:
                self.n_per_class = <int64_t *> (self.model + self.shape.at_counts)

    @property
    def layout(self):
        """`byte_shape`, by name"""
        return self.shape

    @property
    def far_out(self):
        return byte_head_of(self.model).far_out

    @property
    def answers(self):
        return "last" if byte_is_last_better(byte_head_of(self.model)) else "both"

    @property
    def amplitudes(self):
        """Of the features of the four widths and of 1, ndarray of shape (5,)."""
        return np.array(byte_head_of(self.model).amplitude) / 4096.0

    @property
    def directions(self):
        """Entries of the directions, ndarray of shape (n_directions, n_features), int8"""
        cdef byte_shape *s = &self.shape
        cdef int p, j
        u = np.zeros((s.n_directions, s.n_features), np.int8)
        for p in range(s.n_directions):
            for j in range(s.n_kept):
                at = (byte_start(s, p) + <int64_t> j * s.stride[p // 8 % 8]) % s.n_features
                u[p, at] = (<int8_t *> self.model)[s.at_u + p * s.n_kept + j]
        return u

    # -- learning and deciding ---------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef byte_shape before
        cdef const int64_t *counted
        cdef int slot = <int> y if self.several else y > 0.0
        cdef int64_t n = min(self.n_learned() + 1, MOST_COUNTED)
        if not byte_all_finite(&self.shape, <const float *> x):
            return NOT_FINITE
        if slot >= self.most_classes:
            return UNKNOWN_LABEL
        if slot >= self.shape.n_classes:
            before, counted = self.shape, self.n_per_class
            self.lay_out(slot + 1)
            byte_grow(&self.shape, &before, self.model, counted)
        byte_learn(
            &self.shape, self.model, <const float *> x, self.z, slot, self.relative(weight),
            <uint32_t> n, self.n_per_class)
        return CHANGED

    cdef int32_t relative(self, double weight) noexcept nogil:
        """A weight beside the mean of the last ones, Q8: steps do not depend on its unit."""
        if self.mean_weight != NULL and self.mean_weight[0] > 0.0:
            weight /= self.mean_weight[0]
        elif self.mean_weight != NULL:
            weight = 1.0
        return <int32_t> max(1.0, min(rint(256.0 * weight), 65536.0))

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *score) noexcept nogil:
        cdef int32_t[MAX_CLASSES] logit
        cdef int v
        if not byte_all_finite(&self.shape, <const float *> x):
            return NOT_FINITE
        byte_decide(&self.shape, self.model, <const float *> x, self.z, logit)
        if not self.several:
            score[0] = logit[0] / 1024.0
            return UNCHANGED
        if self.shape.n_vectors == 1:       # half of it for each class
            score[0], score[1] = logit[0] / -2048.0, logit[0] / 2048.0
        else:
            for v in range(self.shape.n_classes):
                score[v] = logit[v] / 1024.0
        self.put_last(score)
        for v in range(self.shape.n_classes, self.labels.n):    # named, and never learned
            score[v] = -1e9
        return UNCHANGED

    cdef Status probabilities(self, const void *x, double *out) noexcept nogil:
        cdef double total = 0.0
        cdef int i, n = self.labels.n
        cdef Status status = self.answer(x, out)
        if status > CHANGED:
            return status
        if n <= 2:
            out[n - 1] = 1.0 if n == 1 else sigmoid(out[0])
            if n == 2:
                out[0] = 1.0 - out[1]
            return status
        for i in range(n):
            out[i] = sigmoid(out[i])
            total += out[i]
        for i in range(n):
            out[i] /= total
        return status

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LearnerCore.fault(self)
        cdef int n = byte_head_of(self.model).n_classes
        if found != NULL:
            return found
        if n != self.shape.n_classes or (self.grows and n > max(2, self.labels.n)):
            return b"the snapshot is laid out for other classes"
        return byte_fault(&self.shape, self.model)

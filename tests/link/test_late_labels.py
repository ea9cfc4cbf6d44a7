"""Labels that arrive after their samples: worked examples, then against a plain model."""

import numpy as np
from allocations import SAMPLES, hook_calls, preload_calls
from hypothesis import given, settings
from hypothesis import strategies as st

from edgesvm.link import LateLabels

TOP = 2**32


def waiting(capacity=4, numbers=(), **options):
    late = LateLabels(capacity, 2, **options)
    for n in numbers:
        late.wait(np.float32([n % TOP, -1]), n % TOP, n % 7)
    return late


def label(late, *numbers, row=0):
    """Add labels for `numbers`; return what was matched."""
    for n in numbers:
        late.add_label(row, n % TOP, 3, 0.5)
    found = []
    while (sample := late.take(row)) is not None:
        found.append(sample.sequence)
    return found


def counts(late):
    c = late.counters()
    names = ("matched", "duplicate", "expired", "unknown")
    return tuple(c[f"label_{name}"] for name in names)


def test_a_label_is_matched_with_its_unchanged_sample():
    late = waiting(numbers=range(4))
    late.add_label(0, 2, -5, 0.25)
    sample = late.take(0)
    assert late.take(0) is None
    assert (late.waiting, late.unlabelled) == (3, 0)
    for n in range(4, 10):  # these reuse its slot
        late.wait(np.float32([n, -1]), n)
    assert (sample.label, sample.weight, sample.predicted, sample.sequence) == (-5, 0.25, 2, 2)
    assert sample.x.tolist() == [2, -1]


def test_a_second_label_of_an_inline_labelled_sample_is_a_duplicate():
    late = waiting()
    late.labelled(0)
    assert label(late, 0) == []
    assert counts(late) == (0, 1, 0, 0)
    assert (late.waiting, late.unlabelled) == (0, 0)


def test_labels_wait_for_the_rows_before_them():
    late = waiting()
    late.add_label(2, 1, 0)
    assert late.rows_before(0) == 2
    assert late.take(1) is None
    for n in range(2):
        late.wait(np.float32([n, n]), n)
    sample = late.take(2)
    assert (sample.sequence, sample.predicted) == (1, None)
    assert late.rows_before(2) is None


def test_an_epoch_is_never_dropped_from_a_full_queue():
    late = waiting(numbers=range(4), queue=2)
    for n in (0, 1, 2):
        late.add_label(0, n, 1)
    late.add_epoch(0)  # replaces the label of 1
    assert late.take(0).sequence == 0
    assert late.take(0) is None
    assert late.counters()["label_dropped"] == 2
    assert (late.waiting, late.unlabelled) == (0, 3)
    assert label(late, 1) == []
    assert counts(late) == (1, 0, 0, 1)


class Model:
    """The rules in their plainest form: a dict that forgets only numbers 1,024 behind."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.open = {}
        self.highest = None
        self.counts = [0, 0, 0, 0]

    def sample(self, n):
        self.highest = n if self.highest is None else max(n, self.highest)
        self.open[n] = True

    def label(self, n):
        behind = -1 if self.highest is None else self.highest - n
        if n not in self.open or not 0 <= behind < 1024:
            self.counts[3] += 1
        elif not self.open[n]:
            self.counts[1] += 1
        else:
            self.open[n] = False
            self.counts[0 if behind < self.capacity else 2] += 1

    def unlabelled_and_waiting(self):
        still = [self.highest - n for n, is_open in self.open.items() if is_open]
        waits = sum(behind < self.capacity for behind in still)
        return len(still) - waits, waits


STEPS = st.lists(
    st.tuples(st.sampled_from(["sample", "label"]), st.integers(-40, 30) | st.integers(-40, 1500)),
    max_size=80,
)


@settings(max_examples=200)
@given(STEPS, st.integers(1, 40), st.sampled_from([0, TOP - 30]))
def test_counts_equal_those_of_the_model(steps, capacity, start):
    late, model = LateLabels(capacity, 2), Model(capacity)
    at = start
    for kind, step in steps:
        n = max(at + step, 0)
        if kind == "label":
            label(late, n)
            model.label(n)
        elif n not in model.open:
            late.wait(np.float32([n % TOP, 0]), n % TOP)
            model.sample(n)
            at = max(at, n)
    assert list(counts(late)) == model.counts
    if model.highest is not None:
        assert (late.unlabelled, late.waiting) == model.unlabelled_and_waiting()


# A hundred samples, one per call, and the label of each some steps later. The numbers start over
# whenever the list of rows does, as at a new boot of the node.
ALLOCATIONS = """
import numpy as np
from edgesvm.link import LateLabels

late = LateLabels(16, 8)
X = list(np.random.default_rng(0).standard_normal((100, 8)).astype(np.float32))

def step(x, number):
    if number == 0:
        late.add_epoch(0)
        late.take(0)
    late.wait(x, number, 1)
    if number >= 5:
        late.add_label(0, number - 5, 0, 0.5)
        late.add_label(0, number - 5, 1)  # once more
        taken = late.take(0)
        assert taken.sequence == number - 5 and taken.weight == 0.5 and taken.predicted == 1
        assert taken.label == 0 and taken.x is not None and late.take(0) is None

cases = {"late": (step, (X, list(range(100)))),
         "an array a sample": (lambda x, number: x[:4], (X, list(range(100))))}
"""


def test_no_allocator_call_for_a_late_label(alloc_preload):
    counted = hook_calls(ALLOCATIONS)
    assert counted["late"].excess == (0, 0)
    assert counted["an array a sample"].excess[0] >= SAMPLES  # so the hook sees them
    libc = preload_calls(ALLOCATIONS, alloc_preload, through_malloc=True)["late"]
    assert max(libc.excess) <= libc.control < 100


def test_a_sample_that_waits_is_claimed_once_and_no_other():
    late = waiting(capacity=4, numbers=range(10))
    assert label(late, 9) == [9]
    assert [late.claim(n) for n in (9, 5, 10, 0)] == [None] * 4  # labelled, expired, ahead, gone
    sample = late.claim(7)
    assert (sample.sequence, sample.x.tolist(), sample.predicted) == (7, [7, -1], 0)
    assert late.claim(7) is None and (late.claimed, late.waiting) == (1, 2)
    assert label(late, 7) == [] and counts(late) == (1, 1, 0, 0)
    late.wait(np.float32([20, 0]), 20)
    assert late.matched + late.claimed + late.waiting + late.unlabelled + late.expired == 10 + 1
    assert LateLabels(4, 2).claim(0) is None

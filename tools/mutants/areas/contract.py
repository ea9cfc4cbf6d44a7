"""contract: labels, inputs, parameters, the doors of every core, and the base of every learner."""

from mutant import Area, mutants_of

AREA = Area(
    "contract",
    (
        "tests/contract",
        "tests/conformance/test_refusals.py",
        "tests/conformance/test_labels.py",
        "tests/conformance/test_inputs.py",
        "tests/conformance/test_memory.py",
        "tests/conformance/test_threads.py",
        "tests/conformance/test_jobs.py",
        "tests/conformance/test_sparse.py",
    ),
    (
        *mutants_of(
            "edgesvm/contract/team.pyx",
            (
                "first + (end - first) * (k + 1) // n)",
                "first + (end - first) // n * (k + 1))",
                "rows that do not divide by the number of threads are left out at the end",
            ),
            (
                "            except RuntimeError:    # the system has no more threads\n"
                "                mine.append(k)\n",
                "            except RuntimeError:    # the system has no more threads\n"
                "                pass\n",
                "what a system without threads refuses to start is left undone",
            ),
            (
                "                self.stop(error)\n        if self.error",
                "                raise\n        if self.error",
                "Ctrl-C leaves threads at work in a memory that is free",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/core.pyx",
            (
                "status = self.decide_rows(X, min(1, n), out, slots, i, probable)",
                "status = UNCHANGED",
                "a store is solved by all threads at once",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/sparse.pyx",
            (
                "    clear(b)\n    if not is_span",
                "    if not is_span",
                "the entries of a sparse row are left to the next one",
            ),
            (
                "                if seen[column[0]] == i:\n",
                "                if False:\n",
                "a column that is there twice is taken",
            ),
            (
                "is_coarse = dtype != self.dtype == np.float32",
                "is_coarse = False",
                "rows given in float32 are not rounded to it",
            ),
            (
                "indptr.append(rows.indptr[1:] + (n - low))",
                "indptr.append(rows.indptr[1:] + n)",
                "stacked slices point beside their entries",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/core.pyx",
            (
                "if not (isfinite(weight) and weight >= 0.0):",
                "if not isfinite(weight):",
                "a negative weight is learned",
            ),
            (
                "self.common.n_updates += status == CHANGED",
                "self.common.n_updates += 1",
                "each sample is counted as an update",
            ),
            (
                "        if weight == 0.0:\n            self.common.n_seen += 1\n",
                "        if weight == 0.0:\n",
                "a sample of weight zero is not counted",
            ),
            (
                "self.n_per_class[slot] += 1",
                "self.n_per_class[0] += 1",
                "classes are not told apart",
            ),
            (
                "return (value > 0.0) ^ (self.labels.sign < 0)",
                "return value > 0.0",
                "labels that came in falling order are swapped",
            ),
            (
                "            out[0] *= self.labels.sign\n",
                "",
                "the sign of a decision is that of the slots",
            ),
            (
                "        memset(self.scores, 0, self.n_classes * sizeof(double))\n",
                "",
                "scores of a sample are left behind",
            ),
            (
                "else weight[i[0]])\n"
                "                if status > CHANGED:\n"
                "                    break\n",
                "else weight[i[0]])\n",
                "rows behind a refused one are learned",
            ),
            (
                "and cnp.PyArray_DIM(row, 0) == self.n_features\n",
                "and cnp.PyArray_DIM(row, 0) >= self.n_features\n",
                "a row that is too long is taken as it is",
            ),
            (
                "                and cnp.PyArray_ISCARRAY_RO(row))\n",
                ")\n",
                "a strided row is read as if it were not",
            ),
            ("self.labels.adopt(slot, y)", "pass", "learn_one takes no label up"),
            (
                "c.n_updates <= sum(map(int, per_class)) <= c.n_seen",
                "c.n_updates <= sum(map(int, per_class))",
                "a snapshot may have learned more than it has seen",
            ),
            (
                'if view.dtype.kind == "f" and not np.isfinite(view).all():',
                "if False:",
                "a snapshot may hold NaN",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/batch/_store_svm.pyx",
            (
                "        if self.guard.is_taken():\n            self.guard.await_reading(False)     # what",
                "        if False:\n            self.guard.await_reading(False)     # what",
                "whether a solution is due is looked at while another thread writes it",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/guard.pyx",
            (
                "while self.first != &me or self.depth or (alone and self.n_sharing):",
                "while self.first != &me or (alone and self.n_sharing):",
                "nobody waits for a thread that learns",
            ),
            (
                "while self.first != &me or self.depth or (alone and self.n_sharing):",
                "while self.first != &me or self.depth:",
                "learning does not wait for predictions",
            ),
            (
                "        if self.caller == me:\n            raise self.busy()\n",
                "",
                "a callback may change the learner that calls it",
            ),
            (
                "        self.caller = me\n        try:\n            PyErr_CheckSignals()\n",
                "        try:\n            pass\n",
                "Ctrl-C waits for the end of a batch",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/labels.pyx",
            (
                "self.sign = -1 if self.n == 2 and self.order[0] == 1 else 1",
                "self.sign = 1",
                "the order of two labels does not turn the sign",
            ),
            (
                "if self.closed or self.n == self.room or not is_label(y):",
                "if self.n == self.room or not is_label(y):",
                "labels named up front are not all there are",
            ),
            (
                "not (isinstance(y, float) and isinf(y))",
                "True",
                "infinity is a label",
            ),
            ("unmatched &= ~matches", "unmatched &= matches", "known labels do not match"),
            (
                "if len(values) > room or (closed and len(values) < 2):",
                "if len(values) > room:",
                "a snapshot names one label up front",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/inputs.py",
            (
                'if array.dtype.kind == "c":',
                "if False:",
                "complex numbers are refused by another text",
            ),
            (
                "n_features is not None and shape[-1] != n_features",
                "n_features is not None and shape[-1] < n_features",
                "rows that are too long are read",
            ),
            (
                "    if weights.shape != (n_rows,):",
                "    if weights.shape[:1] != (n_rows,):",
                "weights may have two dimensions",
            ),
            ("or not out.flags.carray", "", "a read-only out is written"),
            (
                "labels = np.array(y, dtype=object)  # [1",
                "pass  # [1",
                "numbers among words become words",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/params.py",
            (
                "not least <= int(value) <= most",
                "not least < int(value) <= most",
                "the least is refused",
            ),
            (
                "if not SMALLEST <= number",
                "if not 0.0 < number",
                "one over a parameter is infinite",
            ),
            ("not 0.0 <= number < math.inf", "not 0.0 <= number", "infinity is a parameter"),
            (
                "    except OverflowError:",
                "    except ZeroDivisionError:",
                "10**400 is another error",
            ),
        ),
    ),
)

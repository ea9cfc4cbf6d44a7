"""compat: what scikit-learn asks, names of columns, dicts of river, ONNX."""

from mutant import Area, mutants_of

AREA = Area(
    "compat",
    (
        "tests/contract/test_estimator.py",
        "tests/contract/test_names.py",
        "tests/compat",
        "tests/conformance/test_sklearn.py",
    ),
    (
        *mutants_of(
            "edgesvm/contract/estimator.py",
            (
                "multi_class = self.n_classes_planned > 2",
                "multi_class = True",
                "a two-class learner says it takes more",
            ),
            ("copy.deepcopy(", "copy.copy(", "a change of the copy is one of the learner"),
        ),
        *mutants_of(
            "edgesvm/contract/names.py",
            ("    if names == known:\n", "    if True:\n", "reordered columns are taken"),
            ('"str" in kinds and len(kinds) > 1', "False", "names of several kinds are taken"),
            ("[*names[:MOST_SHOWN]", "[*names[:6]", "six names are shown"),
        ),
        *mutants_of(
            "edgesvm/learner.py",
            (
                "self._columns = known if self._state is before else names",
                "self._columns = names",
                "a refused fit changes the names",
            ),
            (
                'if state is not None and state.core.views["n_seen"]:',
                "if state is not None:",
                "names of an empty learner are not taken",
            ),
        ),
        *mutants_of(
            "edgesvm/contract/inputs.py",
            ("labels = labels.ravel()\n", "pass\n", "a column of labels is refused"),
        ),
        *mutants_of(
            "edgesvm/learners/batch/store_svm.py",
            (
                "        if not self.converged_:\n",
                "        if False:\n",
                "a solver that ended early says nothing",
            ),
        ),
        *mutants_of(
            "edgesvm/compat/river.py",
            ("        row[:] = 0.0\n", "", "a missing feature is that of the sample before"),
            ("sorted(new, key=repr)", "list(new)", "columns depend on the dict's order"),
            ("                del self.columns_[name]\n", "                pass\n", "a trace"),
            ("            self._row = row\n", "", "a refused first sample decides the width"),
            ("self.n_left_out_ += len(x) - n_set", "pass", "what is left out is not counted"),
            ("self._learn(x, y, w)", "self._learn(x, y)", "weights are lost"),
            (
                "learner_ = learner.like_new()",
                "learner_ = learner",
                "the parameter is what learns, and a clone is not new",
            ),
            ("trial.label is not None and ", "", "metrics count what has no label"),
        ),
        *mutants_of(
            "edgesvm/compat/onnx.py",
            ("- weights @ learner.center_", "", "the means are not folded"),
            ("rho=[-b]", "rho=[b]", "the intercept has the wrong sign"),
            ("waves[:, drawn.order] =", "waves[:, :] =", "waves in blocks are taken as they lie"),
            ("* amplitudes[-1]", "", "x has amplitude 1"),
            (
                "first = coef < 0",
                "first = coef > 0",
                "vectors are listed with the other class",
                "of two classes, all vectors count for the one pair",
            ),
            (
                'isinstance(part, Standardized) and getattr(part.learner_, "normalize", False)',
                "False",
                "parts of different norms are compared",
            ),
            (
                "(weights[1:] - weights[:1]) / 2",
                "weights[1:] - weights[:1]",
                "two parts differ twice as much",
            ),
        ),
    ),
)

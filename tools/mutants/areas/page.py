"""A run or a watch to look at: who may change what, how often it is shown, what is kept."""

from mutant import Area, mutants_of

AREA = Area(
    "page",
    (
        "tests/page/test_history.py",
        "tests/page/test_metrics.py",
        "tests/page/test_server.py",
        "tests/cli/test_http_options.py",
        "tests/cli/test_several_ports.py",
        "tests/test_runner.py",
        "tests/test_journal.py",
        "tests/page/test_live.py",
    ),
    (
        *mutants_of(
            "edgesvm/page/server.py",
            ('expected = f"Bearer {self.server.token}"', "expected = given", "any token will do"),
            (
                "if origin is not None and origin != f\"http://{self.headers['Host']}\":",
                "if False:",
                "another page may give labels",
            ),
            ("            self._check_host()\n", "", "any name may resolve to this machine"),
            (
                '        if self.command not in allowed.split(", "):',
                "        if False:",
                "a GET may change the model",
            ),
            (
                "int(length) > BODY_BYTES:",
                "int(length) > 1 << 40:",
                "a body may have any length",
            ),
            ("            if self._raw.left <= 0:\n", "            if False:\n", "so may a head"),
            (
                "        if seconds <= 0:\n            raise TimeoutError",
                "        if False:\n            raise TimeoutError",
                "a client that sends a byte now and then stays for ever",
            ),
            (
                '        if self.headers.get_content_type() != "application/json":',
                "        if False:",
                "a form of another page may give labels",
            ),
            (
                "type(value) is not int or not least <= value <= most",
                "not isinstance(value, int) or not least <= value <= most",
                "true is a label",
            ),
            (
                "            self.turned_away += 1\n",
                "",
                "who is turned away is not counted",
                "no test opens 264 connections that stay: it is a count for a person",
            ),
            ("if desk.idle_s > STALLED_S:", "if False:", "a loop that stands still is healthy"),
            (
                "if self._encoded[0] is not status:",
                "if self._encoded[0] is None:",
                "the first status is shown for ever",
            ),
        ),
        *mutants_of(
            "edgesvm/page/desk.py",
            (
                "        if not self._wanted:\n            return\n",
                "",
                "a status is made though nobody asks",
            ),
            (
                "            if self._clock() - self._made_at >= self._every:",
                "            if True:",
                "each client costs the loop a status",
            ),
            (
                "return errand if errand.begun else None",
                "return errand",
                "a request is carried out that its client was told is not",
            ),
            (
                "if not self._overdue:",
                "if True:",
                "all wait for a loop that stands still",
            ),
            (
                "errand.end(error=error)",
                "raise",
                "a request that fails ends the learning",
            ),
        ),
        *mutants_of(
            "edgesvm/page/history.py",
            ("        self.every *= 2\n", "", "the history forgets ever faster"),
            (
                "joined = np.where(np.isnan(before), after, before)",
                "joined = before.copy()",
                "a figure is lost where its neighbour is missing",
            ),
            (
                "np.fmax(before, after)",
                "np.fmin(before, after)",
                "a short high score is lost",
            ),
        ),
        *mutants_of(
            "edgesvm/page/run_lookout.py",
            (
                "        if self.journal.find(sequence) not in {place, None}:",
                "        if False:",
                "after a restart another row is taught than was shown",
            ),
            ("open_rows & recent", "recent", "rows with a label are asked to be taught too"),
            (
                '        return {**self._runner.counters(), "taught": self.taught}',
                '        return {**self._runner.counters(), "taught": 0}',
                "what was taught by hand is not shown",
            ),
        ),
        *mutants_of(
            "edgesvm/page/metrics.py",
            (
                '"edgesvm_accuracy_ratio"',
                '"edgesvm_accuracy"',
                "a ratio without its unit in the name",
            ),
            (
                'text = text.replace("\\\\", "\\\\\\\\").replace("\\n", "\\\\n")',
                "text = text",
                "a port's name breaks the metrics",
            ),
        ),
        *mutants_of(
            "edgesvm/page/screen.py",
            (
                "return [line[:columns] for line in body] + foot",
                "return body + foot",
                "lines wider than the window",
            ),
            ("room = rows - len(foot)", "room = rows", "a screen higher than the window"),
        ),
        *mutants_of(
            "edgesvm/cli/live.py",
            (
                "        self._write(LEAVE + ",
                "        self._write(",
                "the terminal is not given back",
            ),
            (
                "(now < self._next and size == self._drawn_for)",
                "size == self._drawn_for",
                "the screen stands still until the window is resized",
            ),
            ("and sys.stderr.isatty():", "and True:", "escapes in a file"),
        ),
        *mutants_of(
            "edgesvm/cli/http_options.py",
            ('LOCAL = "127.0.0.1"', 'LOCAL = "0.0.0.0"', "the page is open to the network"),
            (
                '    if os.name == "posix" and mode & 0o077:',
                "    if False:",
                "others may read the token",
            ),
        ),
        *mutants_of(
            "edgesvm/runner.py",
            ("                self._unlabelled -= 1\n", "", "a taught row counts twice"),
            (
                "        self.journal.label(place, label)\n",
                "",
                "a row is taught as often as somebody asks",
            ),
            (
                '        if entry["has_label"]:',
                "        if False:",
                "a row with a label is taught another",
            ),
            (
                'predicted = int(entry["predicted"]) if entry["has_prediction"] else None',
                "predicted = label",
                "what was predicted on arrival is not what is scored",
            ),
        ),
        *mutants_of(
            "edgesvm/page/server.py",
            (
                'self._desks, path = {name: server.desks[name]}, f"/{below}"',
                'self._desks, path = dict([*server.desks.items()][:1]), f"/{below}"',
                "every port shows the first",
            ),
        ),
        *mutants_of(
            "edgesvm/page/metrics.py",
            ("if len(statuses) > 1 else {}", "if False else {}", "metrics of two ports alike"),
        ),
        *mutants_of(
            "edgesvm/journal.py",
            ("int(behind.min())", "int(behind.max())", "the oldest row of a number is taught"),
        ),
        *mutants_of(
            "edgesvm/link/_late.pyx",
            (
                "        self.claimed += 1\n",
                "        self.claimed += 1\n        state[0] = OPEN\n",
                "a claimed sample may be claimed again",
            ),
        ),
    ),
)

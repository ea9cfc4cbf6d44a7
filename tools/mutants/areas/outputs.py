"""Predictions for others: the sinks, and what they lose."""

from mutant import Area, mutants_of

AREA = Area(
    "outputs",
    ("tests/outputs",),
    (
        *mutants_of(
            "edgesvm/outputs/output.py",
            ("        self.lost += lost\n", "", "what was overwritten is no loss"),
            (
                "            source.before = entries[done - 1]\n",
                "",
                "changes are against the first",
            ),
            (
                "        source.place += done\n",
                "        source.place += len(entries)\n",
                "what was not taken is passed over",
            ),
            (
                "        self.skipped += done - n_sent\n",
                "        self.skipped += done\n",
                "what was sent is skipped too",
            ),
            (
                "            self._deadline = 0.0",
                "            pass",
                "a sink that is away is waited for",
            ),
            (
                "        self.lost = written - self.sent - self.skipped\n",
                "",
                "what is left at the end is not counted",
            ),
            (
                "if not self._told and now >= self._tell_again:",
                "if True:",
                "each failure is told",
            ),
        ),
        *mutants_of(
            "edgesvm/outputs/lines.py",
            ("            wanted[0] |= first == 0\n", "", "the first answer is no change"),
            (
                '            wanted |= changes(entries["has_prediction"], before["has_prediction"])\n',
                "",
                "no prediction looks like label 0",
            ),
            ("(first + np.arange(len(entries)))", "np.arange(len(entries))", "N begins anew"),
            ("math.isfinite(score)", "True", "NaN in JSON"),
        ),
        *mutants_of(
            "edgesvm/outputs/rotated.py",
            ("            os.ftruncate(self._fd, self._size)\n", "", "a torn line stays"),
            (
                "self._size + len(data) > self._max_bytes",
                "self._size > self._max_bytes",
                "a file becomes larger than agreed",
            ),
            (
                "reversed(list(itertools.pairwise(names)))",
                "itertools.pairwise(names)",
                "FILE.1 is lost",
            ),
        ),
        *mutants_of(
            "edgesvm/outputs/standard.py",
            (
                "        if not self._finished_line():\n            return 0\n",
                "",
                "the rest of a line is never written",
            ),
        ),
        *mutants_of(
            "edgesvm/outputs/pipe.py",
            ("> ATOMIC", "> 1 << 20", "a pipe gets more than it takes at once"),
        ),
        *mutants_of(
            "edgesvm/outputs/child.py",
            (
                "        super().turn(seconds)\n        self._check()\n",
                "        super().turn(seconds)\n",
                "a dead program is no failure",
            ),
            ("os.killpg(process.pid, how)", "pass", "a program that hangs is left running"),
        ),
        *mutants_of(
            "edgesvm/outputs/server.py",
            (
                "                self.client_lost += len(client.lines) == client.lines.maxlen\n",
                "",
                "what a slow client lost is not counted",
            ),
            (
                "        self.client_lost += len(client.lines) + bool(client.rest)\n",
                "",
                "what waited for a client at the end is not counted",
            ),
        ),
        *mutants_of(
            "edgesvm/outputs/mqtt.py",
            ('self._status, "offline", qos=1', 'self._status, "gone", qos=1', "another last will"),
            (
                "            return waiting[0] if waiting else len(told)\n",
                "            return len(told)\n",
                "what the broker did not confirm is sent",
            ),
            (
                'told = self._publish(self._status, "offline", retain=True)',
                'told = self._publish(self._status, "offline", retain=False)',
                "a device that ended looks alive",
            ),
            (
                "            self._client.tls_set_context(self._tls)\n",
                "            pass\n",
                "mqtts without TLS",
            ),
            ("        self.settimeout(ANSWER_S)\n", "", "a mute peer holds a sink up"),
            ("            self.close()\n", "            pass\n", "a socket left open"),
            (
                "context = ssl.create_default_context()",
                "context = ssl._create_unverified_context()",
                "any broker is trusted",
            ),
        ),
    ),
)

"""persist: snapshots, saving, checkpoints of two slots, and the thread that writes them."""

from mutant import Area, mutants_of

AREA = Area(
    "persist",
    ("tests/persist", "tests/conformance/test_snapshots.py"),
    (
        *mutants_of(
            "edgesvm/persist/format.py",
            (
                "    if zlib.crc32(memoryview(data)[:-CRC_BYTES]) != crc:\n",
                "    if False:\n",
                "the CRC of a snapshot is not looked at",
            ),
            (
                'HEADER = struct.Struct("<8sHH',
                'HEADER = struct.Struct(">8sHH',
                "the byte order of the header",
            ),
            ("    if version != VERSION:\n", "    if version > VERSION:\n", "version 0 is read"),
            (
                "any(data[HEADER_BYTES - 16 : HEADER_BYTES])",
                "False",
                "reserved bytes may be anything",
            ),
            (
                "    if n_bytes != len(data):\n",
                "    if n_bytes > len(data):\n",
                "the stated length may be less",
            ),
            (
                "if kind == LEARNER and depth < MAX_DEPTH:",
                "if kind == LEARNER:",
                "learners nest without end",
            ),
            (
                "            if len(text) == length:\n",
                "            if True:\n",
                "a text may be cut short",
            ),
            ('struct.pack("<Bq", INT, value)', 'struct.pack("<Bi", INT, value)', "ints of 32 bits"),
            ("    if closed and len(labels) < 2:\n", "    if False:\n", "one label named up front"),
            (
                "not (math.isfinite(gamma) and math.isfinite(coef0))",
                "not math.isfinite(gamma)",
                "coef0 may be NaN in a snapshot",
            ),
        ),
        *mutants_of(
            "edgesvm/persist/store.py",
            ("            os.fsync(file.fileno())\n", "", "a saved file is not synced"),
            ("    sync_folder(folder_of(path))\n", "", "the folder of a saved file is not synced"),
            (
                "        check_budget(path, arena_bytes, max_bytes)\n",
                "",
                "the budget does not hold for a snapshot that is loaded",
            ),
            (
                "        if stated != n_bytes:\n",
                "        if False:\n",
                "all of a sparse file is read",
            ),
            ("if n_bytes > MAX_FILE_BYTES:", "if False:", "a file of any length is read"),
        ),
        *mutants_of(
            "edgesvm/persist/checkpoint.py",
            (
                "        if zlib.crc32(header[:-CRC_BYTES]) != crc:\n",
                "        if False:\n",
                "the CRC of a slot's header is not looked at",
            ),
            (
                "return found == crc and self._pread",
                "return self._pread",
                "the CRC of a slot's snapshot is not computed",
            ),
            (
                "index = 1 - self._newest",
                "index = self._newest",
                "a save goes over the newest state",
            ),
            (
                "        self._disk.fdatasync(self._descriptor)\n",
                "",
                "a save is not synced",
            ),
            (
                "            self._disk.fsync(descriptor)\n            self._disk.replace(",
                "            self._disk.replace(",
                "a new checkpoint is renamed before it is synced",
            ),
            (
                "return slot.sequence > newest or self._was_attached",
                "return False",
                "the saves of another process are overwritten",
            ),
            (
                "size == 0 or size < 2 * self._n_slot",
                "size == 0",
                "a file that was cut goes unnoticed",
            ),
            (
                "        if newest + 1 >= MAX_SEQUENCE:\n",
                "        if False:\n",
                "a save gets a number that no reader accepts",
            ),
            (
                "        if not self._disk.is_at(self._descriptor, self.path):\n            raise",
                "        if False:\n            raise",
                "a save into a file that is gone is acknowledged",
            ),
            ("        self.save_failed += len(failed)\n", "", "failed saves are not counted"),
            ("        self.slot_rejected += len(rejected)\n", "", "rejected slots are not counted"),
            (
                "view, offset = view[n_written:], offset + n_written",
                "view, offset = view[n_written:], offset",
                "a write that stops short goes on at its beginning",
            ),
            (
                "sequence >= MAX_SEQUENCE or (",
                "sequence > MAX_SEQUENCE or (",
                "a number that no save makes is taken",
            ),
            (
                "slot.sequence <= newest]",
                "True]",
                "a slot newer than the state that was loaded is kept",
            ),
            (
                "        self._disk.forget_cache(descriptor)\n",
                "",
                "a slot is read from a cache that the medium never got",
            ),
        ),
        *mutants_of(
            "edgesvm/persist/checkpointing.py",
            (
                "due = n_new >= self._every.samples",
                "due = n_new > self._every.samples",
                "saves are one sample late",
            ),
            (
                "        if self._wanted:\n            self._take()\n            self._write()\n",
                "",
                "nothing is saved at the end",
            ),
            (
                "or self._failure is not None\n",
                "\n",
                "a save that failed is not tried again",
            ),
            (
                "        self._failing = failure is not None\n",
                "",
                "a failure is told at every sample",
            ),
        ),
        *mutants_of(
            "edgesvm/persist/exclusive.py",
            (
                "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
                "        pass\n",
                "two processes may write one file",
            ),
            (
                "    if not stat.S_ISREG(os.fstat(descriptor).st_mode):\n",
                "    if False:\n",
                "a pipe is opened as a checkpoint",
            ),
            (
                "            if is_at(descriptor, path):\n                return descriptor",
                "            if True:\n                return descriptor",
                "a file that was replaced before it was locked is claimed",
            ),
            (
                "if lock(descriptor, path) and is_at(descriptor, path):",
                "if True:",
                "the temporary file of a living process is removed",
            ),
            (
                "            if os.fstat(descriptor).st_size == 0 and is_at(descriptor, path):\n",
                "            if False:\n",
                "a claim that was not used leaves an empty file",
            ),
        ),
    ),
)

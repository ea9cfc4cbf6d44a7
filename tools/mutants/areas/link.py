"""link: lines and frames, sample numbers, late labels, the ring, recordings."""

from mutant import Area, mutants_of

AREA = Area(
    "link",
    ("tests/link", "tests/fuzz"),
    (
        *mutants_of(
            "edgesvm/link/_crc32.pyx",
            ("cdef uint32_t crc = 0xFFFFFFFF", "cdef uint32_t crc = 0", "the CRC starts at zero"),
            (
                "TABLE[5][crc >> 16 & 0xFF] ^ TABLE[4][crc >> 24]",
                "TABLE[4][crc >> 16 & 0xFF] ^ TABLE[5][crc >> 24]",
                "two tables of the CRC are swapped",
            ),
        ),
        *mutants_of(
            "edgesvm/link/_frames.pyx",
            (
                "elif crc32(self.raw, length - CRC_BYTES) != load_u32(self.raw + length - CRC_BYTES):",
                "elif False:",
                "the CRC of a frame is not looked at",
            ),
            (
                "elif length < MIN_RAW or length > self.max_raw:",
                "elif length < MIN_RAW:",
                "a frame may be longer than is taken",
            ),
            ("self.bytes_ok += n", "self.bytes_ok += length", "bytes are counted before COBS"),
            (
                "if self._skipping or held + n > self._buffer.shape[0]:",
                "if self._skipping or held + n >= self._buffer.shape[0]:",
                "the longest frame is dropped",
            ),
            ("            self.oversize += 1\n", "", "an over-long frame is not counted"),
            ("        self.empty += 1\n", "        pass\n", "empty runs are not counted"),
        ),
        *mutants_of(
            "edgesvm/link/_authenticator.pyx",
            ("    return sent == right\n", "    return True\n", "the tag is not compared"),
            (
                "        if not accept(counter, number):\n            self.replayed += 1\n            return False\n",
                "        accept(counter, number)\n",
                "a frame may come again",
            ),
            ("        self._asked = False\n", "", "a nonce opens more than one session"),
            (
                "        store_u32(context + 9, session.boot_id)\n",
                "        store_u32(context + 9, 0)\n",
                "the boot id does not enter the keys",
            ),
            (
                "            self._n_sessions += 1\n",
                "            self._n_sessions = 1\n",
                "a HELLO of old opens the old session",
            ),
        ),
        *mutants_of(
            "edgesvm/link/keys.py",
            ("mode & 0o077", "mode & 0o007", "the group may read a key"),
            (" | os.O_EXCL", "", "a key in use is overwritten"),
        ),
        *mutants_of(
            "edgesvm/link/_sequence.pyx",
            (
                "if self._has_home and self._unique < WINDOW and -JUMP <= step <= JUMP:",
                "if False:",
                "a stray number reopens the window",
            ),
        ),
        *mutants_of(
            "edgesvm/link/_samples.pyx",
            (
                "if raw[1] >> 4 != PROTOCOL_VERSION:",
                "if False:",
                "samples of another protocol version are read",
            ),
            (
                "if raw[0] != self._kind or self._schema_id == 0 or load_u16(raw + 2) != self._schema_id:",
                "if raw[0] != self._kind or self._schema_id == 0:",
                "samples of another schema are read",
            ),
            (
                "weight = load_u16(raw + at + 2) / <float> 256.0",
                "weight = load_u16(raw + at + 2) / <float> 255.0",
                "the weight's unit",
            ),
            (
                "label = <int16_t> load_u16(raw + at)",
                "label = load_u16(raw + at)",
                "negative labels are large ones",
            ),
            ("            self.bad_flags += 1\n", "", "bad flags are not counted"),
            (
                "self._x[i] += self._scales[i, 1]",
                "pass",
                "int16 samples without their offset",
            ),
            (
                "if known and 0 <= step <= expected + CLOCK_SLACK:",
                "if known and step <= expected + CLOCK_SLACK:",
                "a clock may go back",
            ),
        ),
        *mutants_of(
            "edgesvm/link/_sequence.pyx",
            ("cdef int64_t WINDOW = 64", "cdef int64_t WINDOW = 63", "the window is one shorter"),
            (
                "if self._seen >> behind & 1:",
                "if False:",
                "a sample sent twice is used twice",
            ),
            ("self._missing += step - 1", "self._missing += step", "one too many is missing"),
            (
                "if self._open and (step > JUMP or step < -JUMP):",
                "if self._open and step > JUMP:",
                "a jump back is no new epoch",
            ),
            (
                "            self._missing -= 1\n",
                "            pass\n",
                "a late sample stays missing",
            ),
        ),
        *mutants_of(
            "edgesvm/link/_ring.pyx",
            (
                "if self._taken or not self._drop_oldest:",
                "if not self._drop_oldest:",
                "rows that a reader holds are written over",
            ),
            ("            self.dropped += 1\n", "", "dropped samples are not counted"),
            (
                "        if at >= self.capacity:\n            at -= self.capacity\n",
                "        if at > self.capacity:\n            at -= self.capacity\n",
                "the ring's end is written past",
            ),
            (
                "n = min(self._count, self.capacity - self._head)",
                "n = self._count",
                "a batch reaches past the ring's end",
            ),
        ),
        *mutants_of(
            "edgesvm/link/_lines.pyx",
            (
                "                self._leave_out_a_number()\n        return event",
                "                pass\n        return event",
                "a refused line without a number leaves no gap",
            ),
            (
                "        self._skipping = self._discarding = True\n        self._leave_out_a_number()\n",
                "        self._skipping = self._discarding = True\n",
                "lines without numbers follow those before a port was away",
            ),
            (
                "    for i in range(n):\n        found ^= line[i]",
                "    for i in range(n - 1):\n        found ^= line[i]",
                "a checksum leaves out the last byte",
            ),
            (
                "if given != (xor_of(line, end) if digits == 2 else crc16(line, end)):",
                "if False:",
                "a line's checksum is not looked at",
            ),
            (
                "if last == digits:\n            self._digits = digits",
                "self._digits = digits",
                "one checksum that may be chance makes it required",
            ),
            (
                "<uint8_t> (line[i] - 32) > 94",
                "<uint8_t> (line[i] - 32) > 95",
                "DEL is a character of a line",
            ),
            (
                "if not -32768 <= value <= 32767 or value != <int32_t> value:",
                "if not -32768 <= value <= 32767:",
                "1.5 is a label",
            ),
            ("        self._not_finite += not finite\n", "", "NaN in a line is not counted"),
            ("value >> 32:", "value >> 33:", "a sample number of 33 bits is taken"),
            (
                "if self._candidate == separator and self._candidate_features == self._found:",
                "if self._candidate == separator:",
                "lines of different widths settle the columns",
            ),
            (
                "        if kind != SAMPLE:\n            return kind\n        self.schema_checked",
                "        self.schema_checked",
                "a schema line needs no checksum where rows do",
            ),
            (
                "if self._agreeing > AGREEING or",
                "if self._agreeing >= AGREEING or",
                "two short lines settle the columns",
            ),
            (
                "        self._contradicting = 0\n        if not self._separator and",
                "        if not self._separator and",
                "a good row between rows of other columns is forgotten",
            ),
            (
                "self._old_run += self.sequence.is_old(number)",
                "self._old_run += 1",
                "late lines look like a restart",
            ),
        ),
        *mutants_of(
            "edgesvm/link/binary.py",
            (
                "self._doubting |= self._listened - self._sample_at >= self._silent_after",
                "pass",
                "a silent node is not asked again",
            ),
            (
                "if seconds >= 2 * self._silent_after:",
                "if False:",
                "a port that died without a word is kept",
            ),
        ),
        *mutants_of(
            "edgesvm/link/link.py",
            (
                "min(now - self._read_at, timeout + AWAY)",
                "now - self._read_at",
                "a node is blamed while the host was away",
            ),
        ),
        *mutants_of(
            "edgesvm/link/text.py",
            (
                "if self._ring is None and not self._parser.schema_checked:",
                "if False:",
                "a schema line that has lost a byte settles the columns",
            ),
        ),
        *mutants_of(
            "edgesvm/link/_decimal.pyx",
            (
                "return max(one, other) if residual > 0 else min(one, other)",
                "return one",
                "a tie is rounded twice",
            ),
            (
                "if value[0] == INFINITY:\n        return NOT_FINITE",
                "if False:\n        return NOT_FINITE",
                "1e39 is a value",
            ),
            ("power += not point", "power += 1", "digits behind the point count as before it"),
        ),
        *mutants_of(
            "edgesvm/link/_late.pyx",
            (
                "return self._count > 0 and self._row[self._first] <= row",
                "return self._count > 0",
                "a label is taken before the rows it came after",
            ),
            ("            self.expired += 1\n", "", "labels that come too late are not counted"),
            (
                "        if state[0] == CLOSED:\n            self.duplicate += 1\n            return -1\n",
                "        if state[0] == CLOSED:\n            return -1\n",
                "second labels are not counted",
            ),
            (
                "if behind >= self.capacity:\n            self.unlabelled += 1",
                "if behind > self.capacity:\n            self.unlabelled += 1",
                "a sample waits one number too long",
            ),
            (
                "            self.dropped += not self._is_epoch[last]\n",
                "",
                "a label that made way for an epoch is not counted",
            ),
        ),
        *mutants_of(
            "edgesvm/link/recording.py",
            (
                'valid = rows["crc"] == np.array(self._crcs(memoryview(block)), np.uint32)',
                "valid = np.ones(len(rows), bool)",
                "the CRC of a record is not looked at",
            ),
            (
                "self._seed = zlib.crc32(header[:-4])",
                "self._seed = 0",
                "records of one recording pass in another",
            ),
            ('("label", "<i2")', '("label", ">i2")', "the byte order of labels"),
            (
                "        if os.fstat(self._fd).st_size != self._end or not is_at(self._fd, self.path):\n",
                "        if False:\n",
                "samples go into a recording that was removed",
            ),
            (
                "        except OSError:\n            os.ftruncate(self._fd, self._end)\n            raise\n",
                "        except OSError:\n            raise\n",
                "half a record stays behind a failed write",
            ),
            (
                "            os.ftruncate(self._fd, self._end)\n\n    def _valid_end",
                "            pass\n\n    def _valid_end",
                "what a crash tore off is not cut away",
            ),
            (
                "self.damaged += int((~valid[new]).sum())",
                "self.damaged += int((~valid).sum())",
                "damaged records are counted each time they are read",
            ),
        ),
        *mutants_of(
            "edgesvm/link/frames.py",
            (
                '_LABEL = struct.Struct("<hH")',
                '_LABEL = struct.Struct(">hH")',
                "the byte order of a label and its weight",
            ),
            (
                "sequence & 0xFFFFFFFF)",
                "sequence & 0x7FFFFFFF)",
                "sample numbers wrap at 31 bits",
            ),
        ),
    ),
)

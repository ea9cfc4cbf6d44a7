"""Mutants that no operator makes, or that are always to be tried: locks, syncs, orders, bytes."""

from __future__ import annotations

from pathlib import Path

from mutants.mutant import Edit, Mutant
from mutants.sources import ROOT

# file, old text, new text, what is wrong then
BY_HAND = [
    (
        "edgesvm/core/lanes_type.h",
        "q = ((v)[0] + (v)[2]) + ((v)[1] + (v)[3])",
        "q = ((v)[0] + (v)[1]) + ((v)[2] + (v)[3])",
        "four parts are folded in another order",
    ),
    (
        "edgesvm/core/lanes_parts.h",
        "(rows - r) * n >= LANES",
        "rows * n >= LANES",
        "the last rows are read beyond their end",
    ),
    (
        "edgesvm/core/lanes_parts.h",
        "PICK(even_, odd_, 0, 1, 4, 5) + PICK(even_, odd_, 2, 3, 6, 7)",
        "PICK(even_, odd_, 0, 1, 4, 5) + PICK(even_, odd_, 3, 2, 6, 7)",
        "the sums of two rows are mixed up",
    ),
    (
        "edgesvm/core/tiles_parts.h",
        "if (blank_) continue;",
        "if (blank_) break;",
        "what follows a vector of zeros is left out",
    ),
    (
        "edgesvm/core/tiles_parts.h",
        "if (hollow && kind == TILES_RBF) present += (m) * words;",
        "if (hollow && kind == TILES_RBF) present += words;",
        "tiles are read by another tile's features",
    ),
    (
        "edgesvm/core/tiles.pxd",
        "cdef int64_t a = (s // lanes) * lanes * rows.width + s % lanes",
        "cdef int64_t a = (s // lanes) * lanes * rows.width + t % lanes",
        "a swap takes the wrong lane",
    ),
    (
        "edgesvm/core/tiles.pxd",
        "        p[k] |= q[k]\n",
        "        p[k] = q[k]\n",
        "a swap forgets a tile's features",
    ),
    (
        "edgesvm/core/arena.pyx",
        "offset > self.nbytes - length",
        "offset > self.nbytes",
        "an array may reach beyond the arena",
    ),
    ("edgesvm/core/arena.pyx", "if view.readonly or not", "if not", "a read-only buffer is taken"),
    (
        "edgesvm/budget.py",
        "offset=at + leaf.offset",
        "offset=leaf.offset",
        "leaves stand where their part does not",
    ),
    (
        "edgesvm/contract/team.pyx",
        "first + (end - first) * (k + 1) // n)",
        "first + (end - first) // n * (k + 1))",
        "rows that do not divide by the number of threads are left out at the end",
    ),
    (
        "edgesvm/contract/team.pyx",
        "            except RuntimeError:    # the system has no more threads\n                mine.append(k)\n",
        "            except RuntimeError:    # the system has no more threads\n                pass\n",
        "what a system without threads refuses to start is left undone",
    ),
    (
        "edgesvm/contract/team.pyx",
        "                self.stop(error)\n        if self.error",
        "                raise\n        if self.error",
        "Ctrl-C leaves threads at work in a memory that is free",
    ),
    (
        "edgesvm/contract/core.pyx",
        "status = self.decide_rows(X, min(1, n), out, slots, i, probable)",
        "status = UNCHANGED",
        "a store is solved by all threads at once",
    ),
    (
        "edgesvm/contract/core.pyx",
        "target[i[0]], 0, one)\n                if status > CHANGED:\n                    break\n",
        "target[i[0]], 0, one)\n",
        "rows behind a refused one are learned",
    ),
    (
        "edgesvm/contract/core.pyx",
        "                and cnp.PyArray_ISCARRAY_RO(row))\n",
        ")\n",
        "a strided row is read as if it were not",
    ),
    (
        "edgesvm/contract/guard.pyx",
        "while self.first != &me or self.depth or (alone and self.n_sharing):",
        "while self.first != &me or (alone and self.n_sharing):",
        "nobody waits for a thread that learns",
    ),
    (
        "edgesvm/contract/guard.pyx",
        "while self.first != &me or self.depth or (alone and self.n_sharing):",
        "while self.first != &me or self.depth:",
        "learning does not wait for predictions",
    ),
    (
        "edgesvm/contract/labels.pyx",
        "self.sign = -1 if self.n == 2 and self.order[0] == 1 else 1",
        "self.sign = 1",
        "the order of two labels does not turn the sign",
    ),
    (
        "edgesvm/contract/labels.pyx",
        "differs |= row[j] ^ label[j]",
        "differs = row[j] ^ label[j]",
        "labels are told by their last letter",
    ),
    (
        "edgesvm/contract/labels.pyx",
        "not (isinstance(y, float) and isinf(y))",
        "True",
        "infinity is a label",
    ),
    (
        "edgesvm/learners/stream/_ball.pxd",
        "ball.R = 0.5 * (ball.R + z.R + d)",
        "ball.R = 0.5 * (ball.R + d)",
        "another ball's radius",
    ),
    (
        "edgesvm/learners/stream/_ball.pxd",
        "+ step * step * z.xi2\n",
        "+ step * z.xi2\n",
        "the newcomer's own axis is too long",
    ),
    (
        "edgesvm/learners/batch/_smo.pyx",
        "    s.order[a], s.order[b] = s.order[b], s.order[a]\n",
        "",
        "a swap forgets whose example it is",
    ),
    (
        "edgesvm/learners/batch/_smo.pyx",
        "    cache_swap_columns(&s.cache, pairs, n_pairs)\n",
        "",
        "cached rows keep the columns they had",
    ),
    (
        "edgesvm/learners/batch/_store_svm.pyx",
        "beta[t] *= scale[k] if k else -scale[k]",
        "beta[t] *= 1.0 if k else -1.0",
        "a start does not sum to zero",
    ),
    (
        "edgesvm/learners/twin/_incremental_decremental_svm.pyx",
        "moves[0].slot = 0 if self.when_full == OLDEST else self.least_needed()",
        "moves[0].slot = self.least_needed() if self.when_full == OLDEST else 0",
        "oldest and farthest are exchanged",
    ),
    (
        "edgesvm/learners/twin/_twin_vector_machine.pyx",
        "near = fabs(g) <= self.m1 * self.solver.mu * (1.0 + EDGE)",
        "near = fabs(g) <= self.m2 * self.solver.mu * (1.0 + EDGE)",
        "m2 decides which samples are learned",
    ),
    (
        "edgesvm/learners/twin/_twin_vector_machine.pyx",
        "moves[2].to_plus = self.s_plus[i] + self.s_plus[j]",
        "moves[2].to_plus = self.s_plus[i]",
        "a merge loses weight",
    ),
    (
        "edgesvm/learners/twin/twin_passes.h",
        "y[i + j] += a[p + c] * k[ROWS_BLOCK * j + c];",
        "y[i + j] += a[p] * k[ROWS_BLOCK * j + c];",
        "rows of a block count as much as its first",
    ),
    (
        "edgesvm/core/moments.h",
        "double s = spread[j] + delta * (x[j] - m), variance = s * share; ",
        "double s = spread[j] + delta * (x[j] - m), variance = spread[j] * share; ",
        "the sample is not among those it is scaled by",
    ),
    (
        "edgesvm/core/moments.h",
        "delta = copysign(sqrt(most * *spread), delta);",
        "delta = delta;",
        "a value far out counts as far as it is",
    ),
    (
        "edgesvm/learners/fourier/waves_width.h",
        "(UBITS)(first + p)) * (UBITS)0x9E3779B1u + key",
        "(UBITS)p) * (UBITS)0x9E3779B1u + key",
        "all blocks have the first one's directions",
    ),
    (
        "edgesvm/preprocessing/_chain.pyx",
        "            if votes[slot] > most:",
        "            if votes[slot] >= most and votes[slot]:",
        "of several labels with most votes the last one counts",
    ),
    (
        "edgesvm/preprocessing/_chain.pyx",
        "self.winner = slot if self.last else self.most_votes(at)",
        "self.winner = self.most_votes(at)",
        "the last label does not decide alone",
    ),
    (
        "edgesvm/preprocessing/bands.py",
        "((-r + u, r - v), (-r - u, r + v))",
        "((-r, r - v), (-r, r + v))",
        "the filter is no Butterworth",
    ),
    (
        "edgesvm/link/_frames.pyx",
        "TABLE[5][crc >> 16 & 0xFF] ^ TABLE[4][crc >> 24]",
        "TABLE[4][crc >> 16 & 0xFF] ^ TABLE[5][crc >> 24]",
        "two tables of the CRC are swapped",
    ),
    (
        "edgesvm/link/_keyed.pyx",
        "        if not accept(counter, number):\n            self.replayed += 1\n            return False\n",
        "        accept(counter, number)\n",
        "a frame may come again",
    ),
    (
        "edgesvm/link/_keyed.pyx",
        "        self._asked = False\n",
        "",
        "a nonce opens more than one session",
    ),
    (
        "edgesvm/link/_keyed.pyx",
        "        store_u32(context + 9, session.boot_id)\n",
        "        store_u32(context + 9, 0)\n",
        "the boot id does not enter the keys",
    ),
    (
        "edgesvm/link/_keyed.pyx",
        "            self._n_sessions += 1\n",
        "            self._n_sessions = 1\n",
        "a HELLO of old opens the old session",
    ),
    ("edgesvm/link/keyed.py", " | os.O_EXCL", "", "a key in use is overwritten"),
    (
        "edgesvm/link/_samples.pyx",
        "label[0] = <int16_t> load_u16(raw)",
        "label[0] = load_u16(raw)",
        "negative labels are large ones",
    ),
    (
        "edgesvm/link/_ring.pyx",
        "if self._taken or not self._drop_oldest:",
        "if not self._drop_oldest:",
        "rows that a reader holds are written over",
    ),
    (
        "edgesvm/link/_ring.pyx",
        "n = min(self._count, self.capacity - self._head)",
        "n = self._count",
        "a batch reaches past the ring's end",
    ),
    (
        "edgesvm/link/recording.py",
        "self._seed = zlib.crc32(header[:-4])",
        "self._seed = 0",
        "records of one recording pass in another",
    ),
    (
        "edgesvm/link/recording.py",
        '[("label", "<f8")]',
        '[("label", ">f8")]',
        "the byte order of labels",
    ),
    (
        "edgesvm/link/recording.py",
        "        except OSError:\n            os.ftruncate(self._fd, self._end)\n            raise\n",
        "        except OSError:\n            raise\n",
        "half a record stays behind a failed write",
    ),
    (
        "edgesvm/link/link.py",
        "min(now - self._read_at, timeout + AWAY)",
        "now - self._read_at",
        "a node is blamed while the host was away",
    ),
    (
        "edgesvm/link/_lines.pyx",
        "return max(one, other) if residual > 0 else min(one, other)",
        "return one",
        "a tie is rounded twice",
    ),
    (
        "edgesvm/page/server.py",
        'expected = f"Bearer {self.server.token}"',
        "expected = given",
        "any token will do",
    ),
    (
        "edgesvm/page/server.py",
        "            self._check_host()\n",
        "",
        "any name may resolve to this machine",
    ),
    (
        "edgesvm/cli/looking_on.py",
        'LOCAL = "127.0.0.1"',
        'LOCAL = "0.0.0.0"',
        "the page is open to the network",
    ),
    (
        "edgesvm/persist/format.py",
        'HEADER = struct.Struct("<8sHH',
        'HEADER = struct.Struct(">8sHH',
        "the byte order of the header",
    ),
    (
        "edgesvm/persist/format.py",
        'struct.pack("<Bq", INT, value)',
        'struct.pack("<Bi", INT, value)',
        "ints of 32 bits",
    ),
    (
        "edgesvm/persist/format.py",
        "if kind == LEARNER and depth < MAX_DEPTH:",
        "if kind == LEARNER:",
        "learners nest without end",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "index = 1 - self._newest",
        "index = self._newest",
        "a save goes over the newest state",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "        self._disk.fdatasync(self._descriptor)\n",
        "",
        "a save is not synced",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "            self._disk.fsync(descriptor)\n            self._disk.replace(",
        "            self._disk.replace(",
        "a new checkpoint is renamed before it is synced",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "view, offset = view[n_written:], offset + n_written",
        "view, offset = view[n_written:], offset",
        "a write that stops short goes on at its beginning",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "        self._disk.forget_cache(descriptor)\n",
        "",
        "a slot is read from a cache that the medium never got",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "return found == crc and self._pread",
        "return self._pread",
        "the CRC of a slot's snapshot is not computed",
    ),
    (
        "edgesvm/persist/checkpoint.py",
        "return slot.sequence > newest or self._was_attached",
        "return False",
        "the saves of another process are overwritten",
    ),
    (
        "edgesvm/persist/store.py",
        "            os.fsync(file.fileno())\n",
        "",
        "a saved file is not synced",
    ),
    (
        "edgesvm/persist/store.py",
        "    sync_folder(folder_of(path))\n",
        "",
        "the folder of a saved file is not synced",
    ),
    (
        "edgesvm/persist/files.py",
        "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
        "        pass\n",
        "two processes may write one file",
    ),
    (
        "edgesvm/persist/files.py",
        "            if is_at(descriptor, path):\n                return descriptor",
        "            if True:\n                return descriptor",
        "a file that was replaced before it was locked is claimed",
    ),
    (
        "edgesvm/persist/files.py",
        "if lock(descriptor, path) and is_at(descriptor, path):",
        "if True:",
        "the temporary file of a living process is removed",
    ),
    (
        "edgesvm/runner.py",
        "            n = self.handle_waiting(at_most)\n",
        "            n = self.handle_waiting()\n",
        "more samples are handled than were asked for",
    ),
    (
        "edgesvm/runner.py",
        "self.score.add(label, predicted)",
        "self.score.add(label, label)",
        "the score is always right",
    ),
    (
        "edgesvm/runner.py",
        'predicted = self._predicted_in(entry) if entry["has_prediction"] else None',
        "predicted = label",
        "what was predicted on arrival is not what is scored",
    ),
    (
        "edgesvm/window_runner.py",
        "label if weight > 0 else None",
        "label",
        "a label of weight 0 votes",
    ),
    (
        "edgesvm/cli/status.py",
        "        except OSError:\n",
        "        except KeyError:\n",
        "a log on a full disk ends learning",
    ),
    (
        "edgesvm/cli/evaluate.py",
        "    with saved_model.claimed(options.save) if options.save else nullcontext():\n",
        "    with nullcontext():\n",
        "two processes may write the snapshot of eval",
    ),
    (
        "edgesvm/cli/server.py",
        "round(1e6 / self._asked_rate)",
        "round(1e3 / options.set_rate)",
        "the rate asked of a node is in another unit",
    ),
    (
        "edgesvm/cli/run_settings.py",
        "parse_bytes(options.memory) // learners",
        "parse_bytes(options.memory)",
        "each port has all the memory",
    ),
    (
        "edgesvm/contract/names.py",
        "    if names == known:\n",
        "    if True:\n",
        "reordered columns are taken",
    ),
    (
        "edgesvm/compat/river.py",
        "learner_ = learner.like_new()",
        "learner_ = learner",
        "the parameter is what learns, and a clone is not new",
    ),
    (
        "edgesvm/compat/river.py",
        "sorted(new, key=repr)",
        "list(new)",
        "columns depend on the dict's order",
    ),
    (
        "tests/rig/power/disk.py",
        "self.medium_size = rng.choice([self.medium_size, *self.sizes])",
        "self.medium_size = len(self.content)",
        "an un-synced length survives every power cut",
    ),
    (
        "tests/rig/power/cuts.py",
        "        if index < least or index < newest - 1:\n",
        "        if index < newest - 1:\n",
        "a lost save that had returned counts as the previous one",
    ),
    (
        "tests/rig/conformance/checks.py",
        '    return counters["bad_tag"] - ledger.counts().get("hostile", 0) if',
        '    return counters["bad_tag"] if',
        "forged frames excuse missing samples",
    ),
    (
        "tests/rig/conformance/checks.py",
        'counted == injected if relation == "=" else counted >= injected',
        "counted >= injected",
        "a count above what was injected passes",
    ),
    (
        "tests/rig/boards/here.py",
        '"arena": there.arena != bytes(learner.arena),',
        '"arena": len(there.arena) != len(bytes(learner.arena)),',
        "a board's arena of other bytes passes",
    ),
    (
        "edgesvm/fleet/outside.py",
        "np.lexsort((self.numbers, self.rank, self.inside))",
        "np.lexsort((self.rank, self.inside))",
        "equal ranks are told apart by the order of the parts",
    ),
    (
        "edgesvm/fleet/surveys.py",
        "per_class[labels.slot_of(label)] += n",
        "per_class[slot] = n",
        "only the last part counts",
    ),
    (
        "edgesvm/fleet/rounds.py",
        "labels[: len(first)] != first",
        "False",
        "another order of labels is merged",
    ),
    (
        "edgesvm/export/floor/sums.h",
        "out[i] = unit * unit * (double)total;",
        "out[i] = unit * (unit * (double)total);",
        "a distance of codes is rounded another way",
    ),
    (
        "edgesvm/export/floor/sums.h",
        "s = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));",
        "s = ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));",
        "a row's sums are folded in another order",
    ),
    (
        "edgesvm/export/floor/arith.h",
        "return a > b || b != b ? a : b;",
        "return a > b ? a : b;",
        "the greater of a number and NaN is NaN",
    ),
    (
        "edgesvm/export/floor/model.h",
        "if (bytes[i] != ESVM_NAME(head_byte)(i)) return 0;",
        "",
        "a snapshot of other parameters is taken over",
    ),
]


def mutants_by_hand(root: Path = ROOT) -> list[Mutant]:
    """All of them; an entry whose text is not in its file exactly once is an error."""
    return [mutant(root, *entry) for entry in BY_HAND]


def mutant(root: Path, file: str, old: str, new: str, breaks: str) -> Mutant:
    text = (root / file).read_text(encoding="utf-8")
    if old == new or (found := text.count(old)) != 1:
        where = "changes nothing" if old == new else f"is {found} times in the file"
        raise LookupError(f"{file}: {breaks}: {old!r} {where}")
    start = text.index(old)
    return Mutant(f"{file}: {breaks}", file, Edit(start, start + len(old), new, breaks))

"""`edgesvm run` in this process, with the clock, the port, the disk and the signals of a world.

`Host.in_world` names all that is replaced. Nothing has a thread: a port is opened where the main
loop would wait for it, and the writing of a checkpoint is an event of the world's clock.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import random
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NoReturn
from unittest import mock

import numpy as np

import edgesvm
from edgesvm.cli import _parse, run, server
from edgesvm.cli.options import read
from edgesvm.errors import CorruptModelError, LinkDown, NoSchema
from edgesvm.learner import Learner
from edgesvm.learners.drift import DriftWatch
from edgesvm.link import open_link, wire
from edgesvm.link.wire import REJECTED
from edgesvm.persist import Checkpoint
from edgesvm.persist.checkpointing import Checkpointer
from edgesvm.serve.job import Job
from edgesvm.serve.process import Signals
from edgesvm.serve.taught import taught
from rig.power.disk import PowerCut
from rig.simulation.arrivals import FrameReader, LineReader, Reader, raw_frame
from rig.simulation.plain_host import PlainHost
from rig.simulation.plan import KEY, RECOVERY_S, End
from rig.simulation.world import World

SLOWEST_SAVE_S = 3.0


class Broken(BaseException):
    """An invariant does not hold. No handler of the host may take it for an error of its own."""


class Opening(server.Opening):
    """Opens the port where it is asked to."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result, self.error, self._call = None, None, call
        self._run()

    def is_over(self, timeout: float) -> bool:
        return True


class Host:
    """The lives of a host in a world, each beside a plain host that must come to the same.

    Attributes
    ----------
    broken : str
        The first invariant that did not hold.
    lives : int
        Processes so far.
    counters : dict
        Of the last report.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.settings = read(run.Settings, _parse(world.plan.words))
        self.broken = ""
        self.lives = 0
        self.counters: dict[str, int] = {}
        self.last_news_at = 0.0  # when a sample or a label was taken, or refused
        self.n_learned = 0
        # The plain learner as it was at the last save that was acknowledged, and at each that was
        # begun since; None is one that has learned nothing.
        self.copies: list[Learner | None] = [None]
        self._rng = random.Random(world.plan.seed + 2)
        self._reader: Reader
        self._plain: PlainHost | None = None
        self._runner: Any = None
        self._saver: SavesLater | None = None
        self._loaded: Learner | None = None
        self._has_heard = False  # since the last check
        self._wrote = bytearray()
        self._answers: deque[tuple[int, int, int, bytes]] = deque()
        self._news: list[int] = []
        self._refused: set[int] = set()

    def breaks(self, what: str) -> NoReturn:
        """An invariant does not hold."""
        self.broken = self.broken or what
        raise Broken(what)

    # -- the seams

    @contextlib.contextmanager
    def in_world(self) -> Iterator[None]:
        """`edgesvm run` meets the world within this context."""
        world, host = self.world, self

        class Nonces:
            def randint(self, low: int, high: int) -> int:
                number = world.nonces.randint(low, high)
                host._reader.drew(number)
                return number

        class WatchedJob(Job):
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                host._begins(self)

            def handle_waiting(self, at_most: int | None = None) -> int:
                n = super().handle_waiting(at_most)
                host.check()
                return n

        class WatchedCheckpoint(Checkpoint):
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, disk=world.disk, **options)

            def load(self, max_bytes: int | None = None) -> Any:
                host._loaded = super().load(max_bytes)
                return host._loaded

        replaced: dict[str, Any] = {
            "edgesvm.cli.run.taught": functools.partial(taught, clock=world.clock),
            "edgesvm.serve.taught.Job": WatchedJob,
            "edgesvm.cli.server.stop_signals": self._stop_signals,
            "edgesvm.cli.server.Opening": Opening,
            "edgesvm.serve.process.reserve": lambda: None,  # it takes time, and is about memory
            "edgesvm.cli.link_settings.read_key": lambda path: KEY,
            "edgesvm.cli.link_settings.open_link": functools.partial(
                open_link, opener=world.open, clock=world.clock
            ),
            "edgesvm.link.binary.SystemRandom": Nonces,
            "edgesvm.persist.checkpoint.Checkpoint": WatchedCheckpoint,
            "edgesvm.persist.checkpointing.Checkpointer": functools.partial(SavesLater, self),
            "edgesvm.persist.checkpointing.start_thread": lambda target, name: mock.Mock(),
        }
        clock = mock.Mock(monotonic=world.clock, sleep=world.sleep)
        for module in ("cli.server", "serve.process"):
            replaced[f"edgesvm.{module}.time"] = clock
        with contextlib.ExitStack() as stack:
            for name, what in replaced.items():
                where, _, of = name.rpartition(".")
                stack.enter_context(mock.patch.object(import_module(where), of, what))
            yield

    @contextlib.contextmanager
    def _stop_signals(self) -> Iterator[Signals]:
        signals = Signals()
        self.world.interrupt = signals
        try:
            yield signals
        finally:
            self.world.interrupt = lambda: None

    # -- a life

    def live(self, end: End | None) -> bool:
        """One process, from its start to its end. Whether it ended well, all having been read."""
        world = self.world
        self.lives += 1
        self._reader, self._plain, self._runner, self._loaded = self._new_reader(), None, None, None
        self._saver = None
        self._wrote.clear()
        self._answers.clear()
        world.hears = self._hear
        world.begin(end)
        world.note(f"life {self.lives} begins")
        out = io.StringIO()
        ended = "well"
        try:
            with contextlib.redirect_stdout(out):
                run.run(self.settings)
        except PowerCut:
            world.bury()
            ended = "by a cut"
        except KeyboardInterrupt:
            ended = "by a signal"
        except (LinkDown, NoSchema) as error:
            ended = f"by {type(error).__name__}"
            world.idle(1.0)
        except Broken:
            pass
        except Exception as error:  # whatever it is, a run must not end by itself
            self.broken = self.broken or f"the run ended by {type(error).__name__}: {error}"
        if self.broken:
            raise Broken(self.broken)
        world.note(f"life {self.lives} ended {ended}")
        if ended != "well":
            return False
        self.counters = json.loads(out.getvalue())["counters"]
        if self._plain is None or self.counters["taken"] != self._plain.counts["taken"]:
            self.breaks("the report has another number of samples")
        if self._plain.counts["learned"] and not (self._saver and self._saver.has_failed):
            last = self.copies[-1]
            if last is None or not same(asked(last), asked(self._plain.learner)):
                self.breaks("the run ended, and what it had learned last is not saved")
        return True

    def _new_reader(self) -> Reader:
        plan = self.world.plan
        told = plan.told
        if plan.is_text:
            has_labels = told["labels"] != "none"
            return LineReader(told["ring"], plan.n_features, told["range"], has_labels=has_labels)
        key = KEY if told["key"] else None
        return FrameReader(told["ring"], told["range"], key=key, late=told["late"])

    def _hear(self, what: str, data: bytes) -> None:
        if what == "opened":
            self._reader.opened()
        elif what == "read":
            self._reader.feed(data)
            self._has_heard = True
        elif what == "removed":
            self.copies.insert(0, None)
        else:
            self._wrote += data

    def _begins(self, runner: Job) -> None:
        """The runner is there, with the learner that was loaded or a new one."""
        self._runner = runner
        learner = runner.pupil.learner
        if self._loaded is None:
            if self.copies[0] is not None:
                self.breaks("nothing was loaded, though a save had been acknowledged")
            own = copy.deepcopy(learner)
        else:
            own = copy.deepcopy(self._copy_of(learner))
        told = self.world.plan.told
        drift = None
        if told["drift"] is not None:
            drift = DriftWatch(own, edgesvm.PageHinkley(), reset=told["reset"])
        self._plain = PlainHost(
            self._reader,
            own,
            late=told["late"],
            rate=told["max_labels"],
            drift=drift,
            clock=self.world.clock,
        )

    def _copy_of(self, loaded: Learner) -> Learner:
        """The plain learner as it was when this was saved, which is not lost from now on."""
        for one in reversed(self.copies):
            if one is not None and same(one, loaded):
                self.copies = [one]
                return one
        self.breaks("what was loaded is no save since the last one that was acknowledged")

    def check(self) -> None:
        """The invariants that hold after each step of the host."""
        runner, plain = self._runner, self._plain
        assert plain is not None
        if not self._has_heard:
            return
        self._has_heard = False
        before = plain.counts["learned"]
        plain.catch_up()
        self.n_learned += plain.counts["learned"] - before
        have, want = runner.counters(), plain.counters()
        self._mind_silence(want)
        for name, n in want.items():
            if have.get(name, 0) != n:
                self.breaks(f"{name} is {have.get(name, 0)}, not {n}")
        if broken := runner.check_identities():
            self.breaks("; ".join(broken))
        arena = bytes(runner.pupil.learner.arena)
        if arena != bytes(plain.learner.arena):
            self.breaks("the arena is not that of a learner that learned what arrived")
        score = runner.pupil.score
        if (score.n, round(score.n * (score.accuracy or 0))) != (
            plain.counts["scored"],
            plain.counts["right"],
        ):
            self.breaks("the score is not that of the predictions")
        self._check_answers(plain)
        self.world.note(f"step {want['taken']} {want['learned']} {zlib.crc32(arena):08x}")

    def _mind_silence(self, want: dict[str, int]) -> None:
        """A healthy node is heard soon, whatever happened before; its line must be sound too."""
        news = [want["unique"], *(n for name, n in want.items() if name.startswith("label_"))]
        if news != self._news:
            self.check_silence()
            self._news, self.last_news_at = news, self.world.now

    def check_silence(self) -> None:
        """How long nothing has come, beside how long that may be."""
        plan = self.world.plan
        silence = self.world.now - max(self.last_news_at, self.world.disturbed_until)
        if not (plan.faults or plan.mishaps) and silence > RECOVERY_S + 1 / plan.node["rate"] + 1:
            self.breaks(f"nothing has come of a healthy node for {silence:.1f} s")

    def _check_answers(self, plain: PlainHost) -> None:
        """What was sent to the node is what the plain host would have sent, in its order."""
        self._refused.update(self._reader.refused)
        self._reader.refused.clear()
        if not self.world.plan.told["answers"]:
            plain.answers.clear()
            return
        for one in plain.answers:
            score = b"%.6g" % one.score if self.world.plan.is_text else struct.pack("<f", one.score)
            self._answers.append((one.sequence, one.label, one.flags, score))
        plain.answers.clear()
        for sent in self._sent():
            if sent in self._answers:
                while self._answers.popleft() != sent:
                    pass
            elif sent[2] != REJECTED or sent[0] not in self._refused:
                self.breaks(f"the answer {sent} is not that of the learner as it was")

    def _sent(self) -> Iterator[tuple[int, int, int, bytes]]:
        """The predictions written since the last look."""
        *runs, rest = bytes(self._wrote).split(b"\n" if self.world.plan.is_text else b"\0")
        self._wrote[:] = rest
        for run_ in runs:
            if self.world.plan.is_text:
                sequence, label, flags, score = run_[1:].split(b" ")
                yield int(sequence), int(label), int(flags), score
            elif (raw := raw_frame(run_)) is not None and raw[0] == wire.PREDICTION:
                sequence, label, flags = struct.unpack_from("<IhH", raw, 8)
                yield sequence, label, flags, raw[16:20]

    # -- saves

    def copied(self) -> None:
        """The learner was copied for a save."""
        assert self._plain is not None
        self.copies.append(copy.deepcopy(self._plain.learner))

    def acknowledged(self) -> None:
        """The save of the last copy is said to be on the medium."""
        del self.copies[:-1]
        self.world.note("saved")

    def load_at_the_end(self) -> None:
        """What is loaded after the power was cut once more."""
        self.world.begin(None)
        self.world.disk.cut_power()
        second = "spare" if self.world.plan.told["second"] else None
        try:
            found = Checkpoint("model", second=second, disk=self.world.disk).load()
        except (CorruptModelError, OSError) as error:
            self.breaks(f"nothing can be loaded at the end: {error}")
        if found is not None:
            self._copy_of(found)
        elif self.copies[0] is not None:
            self.breaks("nothing was loaded at the end, though a save had been acknowledged")


class SavesLater(Checkpointer):
    """A checkpointer whose writing is an event of the world's clock."""

    def __init__(self, host: Host, *args: Any, **options: Any) -> None:
        self._host = host
        super().__init__(*args, clock=host.world.clock, **options)
        host._saver = self

    @property
    def has_failed(self) -> bool:
        return self._failure is not None

    def save(self) -> None:
        was_writing = self._writing
        super().save()
        if self._writing and not was_writing:
            world = self._host.world
            due = world.now + self._host._rng.uniform(0, SLOWEST_SAVE_S)
            world.at(due, "save", self._finish, of_process=True)

    def close(self) -> None:
        self._finish()
        super().close()

    def _finish(self) -> None:
        if self._writing:
            self._write()
            self._writing = False

    def _take(self) -> None:
        super()._take()
        self._host.copied()

    def _write(self) -> None:
        super()._write()
        if self._failure is None:
            self._host.acknowledged()


def asked(learner: Learner) -> Learner:
    """A copy that has been asked something: some learners compute their solution only then."""
    learner = copy.deepcopy(learner)
    if learner.is_fitted:
        learner.predict_one(np.zeros(learner.n_features_in_, learner.dtype))
    return learner


def same(one: Learner, other: Learner) -> bool:
    """Whether two learners have the same bytes and labels."""
    return bytes(one.arena) == bytes(other.arena) and repr(one) == repr(other)

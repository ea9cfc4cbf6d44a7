"""What a host does for a board that learns, over a fake port."""

import zlib

import numpy as np
import pytest
from fake_port import Clock, FakePort

from edgesvm import StreamSVM
from edgesvm.link import FrameDecoder, open_link, wire
from edgesvm.on_device import OnDevice
from edgesvm.persist import pack, restore


def model(n_seen):
    learner = StreamSVM().allocate(2, classes=[0, 1])
    rng = np.random.default_rng(1)
    for x in rng.standard_normal((n_seen, 2)):
        learner.learn_one(x, int(x[0] > 0))
    return learner


class Board:
    """Has a model; loses the frames whose number is in `lost`; may take snapshots."""

    def __init__(self, learner, takes=wire.RESTORED, lost=()):
        self.snapshot = pack(learner.snapshot())
        self.takes, self.lost = takes, set(lost)
        self.boot_id, self.asked, self.given = 7, 0, bytearray()
        self._decoder, self._sent = FrameDecoder(), 0

    def frame(self, kind, body):
        self._sent += 1
        return b"" if self._sent in self.lost else wire.encode_frame(kind, body)

    def heartbeat(self):
        return self.frame(wire.HEARTBEAT, wire.Heartbeat(self.boot_id, 0, 0, 0, 0, 0).pack())

    def hear(self, data):
        return b"".join(map(self._answer, self._decoder.feed(data)))

    def _answer(self, frame):
        if frame.kind == wire.SNAPSHOT_ASK:
            self.asked += 1
            ask, whole = wire.SnapshotAsk.unpack(frame.body), self.snapshot
            end, crc = min(ask.at + ask.n, len(whole)), int.from_bytes(whole[-4:], "little")
            return b"".join(
                self.frame(
                    wire.SNAPSHOT_PAGE,
                    wire.SnapshotPage(
                        ask.request, crc, len(whole), at, whole[at : min(at + 100, end)]
                    ).pack(),
                )
                for at in range(ask.at, end, 100)
            )
        page = wire.SnapshotPage.unpack(frame.body)
        status = wire.GO_ON if self.takes == wire.RESTORED else self.takes
        if status == wire.GO_ON and page.at == len(self.given):
            self.given += page.part
        if len(self.given) == page.total:
            self.snapshot, status = bytes(self.given), wire.RESTORED
        answer = wire.SnapshotStatus(page.request, status, len(self.given))
        return self.frame(wire.SNAPSHOT_STATUS, answer.pack())


def at_work(board, known=None, **more):
    port, kept = FakePort(Clock(), board), []
    port.inbox += b"\0" + board.heartbeat()
    link = open_link("fake", mode="board", opener=lambda: port, clock=port.clock)
    job = OnDevice(link, kept.append, model=known, clock=port.clock, **more)
    return job, port, kept


def steps(job, n=60):
    for _ in range(n):
        job.step()
    assert job.link.check_identities() == []


@pytest.mark.parametrize("lost", [(), (2,), (3, 4, 7)])
def test_a_model_is_fetched_whatever_pages_are_lost(lost):
    board = Board(model(9), lost=lost)
    job, _, kept = at_work(board)
    steps(job)
    assert [pack(m.snapshot()) for m in kept] == [board.snapshot]
    assert job.fetched == 1 and (board.asked > 1) == bool(lost)


@pytest.mark.parametrize("lost", [(), (4,), (5, 6)])
def test_a_board_that_knows_less_gets_the_hosts_model(lost):
    board, known = Board(model(3), lost=lost), model(20)
    job, _, kept = at_work(board, known)
    steps(job, 100)
    assert board.snapshot == pack(known.snapshot()) and not kept
    assert (job.given, job.model) == (1, known)


def test_a_restart_is_seen_and_mended_at_once():
    board = Board(model(20))
    job, port, kept = at_work(board, every_s=1e6)
    steps(job)
    assert len(kept) == 1
    board.snapshot, board.boot_id = pack(model(0).snapshot()), 8
    port.inbox += board.heartbeat()
    steps(job)
    assert (job.restarts, job.given, job.fetched) == (1, 1, 2)
    assert restore(board.snapshot).n_seen_ == 20


@pytest.mark.parametrize(
    ("outcome", "words"),
    [(wire.TAKES_NONE, "takes no snapshots"), (wire.NO_SNAPSHOT, "of another model")],
)
def test_a_model_that_the_board_does_not_take_is_an_error(outcome, words):
    job, _, kept = at_work(Board(model(3), takes=outcome), model(20))
    with pytest.raises(ValueError, match=words):
        steps(job)
    assert not kept and job.model.n_seen_ == 20


def test_a_snapshot_that_holds_no_model_is_counted_and_not_kept():
    board = Board(model(3))
    damaged = bytearray(board.snapshot[:-4])
    damaged[20] ^= 1
    board.snapshot = bytes(damaged) + zlib.crc32(damaged).to_bytes(4, "little")
    job, _, kept = at_work(board)
    steps(job)
    assert job.unreadable == 1 and not kept


def test_predictions_are_counted_by_what_became_of_their_samples():
    board = Board(model(3))
    job, port, _ = at_work(board)
    for i, flags in enumerate([wire.ABSTAIN, wire.TRAINED, 0, wire.TRAINED]):
        port.inbox += board.frame(wire.PREDICTION, wire.Prediction(i, 1, flags, 0.5).pack())
    steps(job)
    counters = job.counters()
    assert [counters[k] for k in ("predictions", "trained", "abstained")] == [4, 2, 1]

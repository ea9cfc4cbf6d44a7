"""The other end of a board that learns: its predictions, its snapshots, and a snapshot for it."""

from __future__ import annotations

from typing import Any

from edgesvm.link import wire
from edgesvm.link.binary import HELLO_EVERY, BinaryLink
from edgesvm.link.pages import SnapshotFetch, SnapshotGift

# No page or status for so long: it, or the question, was lost.
LOST_AFTER = 1.0


class BoardLink(BinaryLink):
    """A link to a microcontroller that has the learner (`edgesvm export`, ``NAME_link.h``).

    It has no samples of its own: it reads what the board says, asks for its snapshot (`ask`) and
    gives it one (`give`). Both go on by themselves in `poll`, and lost frames are sent again.

    Parameters
    ----------
    as for `BinaryLink`

    Attributes
    ----------
    boot_id : int or None
        Of the board's last heartbeat, or HELLO; another one after it has restarted.
    predictions, trained, abstained : int
        Predictions that came; those whose sample was learned; those without a label.
    last_prediction : Prediction or None
    asking : bool
        Whether a snapshot was asked for and is not here yet.
    gift : SnapshotGift or None
        What is being given, or was given last; its `outcome` says how it ended.
    """

    _awaited = "frame of a board that learns"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.boot_id: int | None = None
        self.predictions = self.trained = self.abstained = 0
        self.last_prediction: wire.Prediction | None = None
        self.asking = False
        self.gift: SnapshotGift | None = None
        self._fetch = SnapshotFetch()
        self._snapshot: bytes | None = None
        self._hellos = self._pages = self._statuses = self._transfers = 0
        self._next_turn = 0.0

    def ask(self) -> None:
        """Ask for the board's snapshot; `take_snapshot` has it when it is whole."""
        self.asking = True
        self._next_turn = 0.0

    def give(self, snapshot: bytes) -> None:
        """Give the board a snapshot to go on from; `gift.outcome` tells when it is done.

        Raises
        ------
        ValueError
            These bytes are no snapshot.
        """
        self._transfers = self._transfers % 0xFFFF + 1
        # Another run may have used the same numbers: begin anywhere.
        request = (self._host_id + self._transfers) % 0xFFFF + 1
        self.gift = SnapshotGift(snapshot, request)
        self.asking = False  # what comes now is of before
        self._next_turn = 0.0

    def take_snapshot(self) -> bytes | None:
        """The snapshot that has come since the last call, if one has."""
        snapshot, self._snapshot = self._snapshot, None
        return snapshot

    @property
    def giving(self) -> bool:
        return self.gift is not None and self.gift.outcome is None

    # What a host does with a node, done with a board.

    def _send_hello(self, now: float) -> None:
        """Nothing to ask: a board that learns says HELLO, or sends heartbeats."""
        self._next_hello = now + HELLO_EVERY

    def _tick(self, now: float) -> None:
        if now < self._next_turn:
            return
        self._next_turn = now + LOST_AFTER
        if self.giving and self.gift is not None:
            self._queue_control(wire.SNAPSHOT_PAGE, self.gift.page())
        elif self.asking:
            self._queue_control(wire.SNAPSHOT_ASK, self._fetch.ask())

    def _on_heartbeat(self, heartbeat: wire.Heartbeat) -> None:
        super()._on_heartbeat(heartbeat)
        self._alive(heartbeat.boot_id)

    def _alive(self, boot_id: int | None = None) -> None:
        self._handshake_done = True
        if boot_id is not None:
            self.boot_id = boot_id

    def _on_other(self, frame: wire.Frame) -> None:
        try:
            if frame.kind == wire.HELLO:
                hello = wire.Hello.unpack(frame.body)
                self._hellos += 1
                self._alive(hello.nonce)
            elif frame.kind == wire.PREDICTION:
                self._on_prediction(wire.Prediction.unpack(frame.body))
            elif frame.kind == wire.SNAPSHOT_PAGE:
                self._on_page(wire.SnapshotPage.unpack(frame.body))
            elif frame.kind == wire.SNAPSHOT_STATUS:
                self._on_status(wire.SnapshotStatus.unpack(frame.body))
            else:
                super()._on_other(frame)
        except wire.BadBody:
            self._bad_control += 1

    def _on_prediction(self, prediction: wire.Prediction) -> None:
        self._alive()
        self.predictions += 1
        self.trained += bool(prediction.flags & wire.TRAINED)
        self.abstained += bool(prediction.flags & wire.ABSTAIN)
        self.last_prediction = prediction

    def _on_page(self, page: wire.SnapshotPage) -> None:
        self._alive()
        self._pages += 1
        self._next_turn = self._clock() + LOST_AFTER
        snapshot = self._fetch.take(page)
        if snapshot is not None and not self.giving:
            self._snapshot = snapshot
            self.asking = False

    def _on_status(self, status: wire.SnapshotStatus) -> None:
        self._alive()
        self._statuses += 1
        if self.giving and self.gift is not None:
            before = self.gift.at
            self.gift.take(status)
            if self.gift.at != before:
                self._next_turn = 0.0  # at once; a status that says nothing new is an echo

    @property
    def counters(self) -> dict[str, int]:
        return {
            **super().counters,
            "hellos": self._hellos,
            "predictions": self.predictions,
            "snapshot_pages": self._pages,
            "snapshot_statuses": self._statuses,
        }

    _kinds = (
        *BinaryLink._kinds,
        "hellos",
        "predictions",
        "snapshot_pages",
        "snapshot_statuses",
    )

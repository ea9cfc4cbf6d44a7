"""Injects faults into a byte stream, frame by frame, and enters each in the ledger."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from edgesvm.link.wire import SAMPLE_F32, SAMPLE_I16
from firmware_sim.line.faults import (
    FAULTS,
    UNPLUGGED_APART,
    UNPLUGGING,
    WINDOW,
    Gaps,
    Piece,
    Stretch,
    Unplug,
    checked_rates,
)
from firmware_sim.line.ledger import Entry, Ledger


@dataclass
class _Held:
    """A sample frame that is held back until `delay` more samples have been sent."""

    frame: bytes
    ordinal: int
    number: int
    offset: int
    delay: int


class FaultInjector:
    """Damages a byte stream frame by frame: sample frames alone, so that repeated handshakes do not
    change the counts; of text no comments and no late labels.

    Parameters
    ----------
    rates : mapping of str to float
        Probability per frame, by kind.
    seed : int
        The same seed, rates and frames give the same faults, whatever the chunks of bytes.
    delimiter : int
        0x00 for frames, 0x0A for text lines.

    Attributes
    ----------
    ledger : Ledger
        Others may write to it as well; sample frames listed as spared are left alone.
    frames : int
        Frames (or lines) received that were not empty.
    samples : int
        Sample frames (or lines) among them: the ordinal of the next one.
    arrived : array of unsigned int
        Ordinals of the sample frames sent whole, in order, each once.

    Raises
    ------
    ValueError
        Unknown kind; a rate below 0; rates that add up to more than 1.
    """

    def __init__(
        self,
        rates: Mapping[str, float],
        *,
        seed: int = 0,
        delimiter: int = 0,
    ) -> None:
        self._rates = checked_rates(rates, FAULTS)
        self.ledger = Ledger()
        self.frames = self.samples = 0
        self.arrived = array("I")
        self._rng = np.random.default_rng(seed)
        self._gaps = Gaps(self._rates, self._rng)
        self._spared_left = self._gaps.next()
        self._delimiter = delimiter
        self.end = bytes([delimiter])
        self._partial = b""
        self._offset = 0  # of the current frame, in the undamaged stream
        self._stretch: list[tuple[bytes, int]] = []  # collected for a fault with a reach
        self._stretch_kind = ""
        self._stretch_at = (0, 0)  # frame number and offset of its first
        self._held: list[_Held] = []
        self._highest = 0  # ordinal of a sample whose number the host has seen
        self._recent: deque[bytes] = deque(maxlen=8)
        self._dead = False
        self._unplugged_at = -UNPLUGGED_APART  # ordinal
        self.may_unplug = any(self._rates.get(kind, 0) > 0 for kind in UNPLUGGING)

    def feed(self, data: bytes) -> list[Piece]:
        """Return the next bytes with faults; an incomplete frame waits for its end."""
        *frames, self._partial = (self._partial + data).split(self.end)
        pieces: list[Piece] = []
        whole = bytearray()  # unchanged frames
        for frame in frames:
            changed = self._pass(frame)
            self._offset += len(frame) + 1
            if changed is None:
                whole += frame
                whole += self.end
            else:
                if whole:
                    pieces.append(bytes(whole))
                    whole.clear()
                pieces += changed
        if whole:
            pieces.append(bytes(whole))
        return pieces

    def finish(self) -> list[Piece]:
        """The stream has ended: return what was held back or being collected."""
        pieces = self._inject() if self._stretch else []
        while self._held:
            pieces.append(self._release(self._held.pop(0)))
        return pieces

    def revive(self) -> None:
        """Power is back after a reboot: frames are counted again."""
        self._dead = False
        self._partial = b""

    def _pass(self, frame: bytes) -> list[Piece] | None:
        """The pieces to send for a frame; None if it is unchanged."""
        if not frame:
            return [] if self._dead else None
        self.frames += 1
        if not self._is_sample(frame):
            return [] if self._dead else None
        self.samples += 1
        if self._dead:
            self.ledger.dies(self.samples - 1)
            return []
        return self._sample(frame, self.samples - 1)

    def _is_sample(self, frame: bytes) -> bool:
        if self._delimiter:
            return frame[:1] not in (b"#", b"=")  # a comment, a late label
        # COBS leaves the type in place after one code byte, since a type is never 0.
        return len(frame) > 1 and frame[1] in (SAMPLE_F32, SAMPLE_I16)

    def _sample(self, frame: bytes, ordinal: int) -> list[Piece] | None:
        spared = ordinal in self.ledger.spared
        if self._stretch:
            if spared:  # this frame has a device fault: apply the fault to the frames so far
                return [*self._inject(), *self._intact(frame, ordinal, spared)]
            self._stretch.append((frame, ordinal))
            return self._inject() if self._collected() else []
        if spared or self._spared_left is None or self._spared_left > 0:
            if self._spared_left and not spared:
                self._spared_left -= 1
            if not self._held:
                self._arrive(ordinal)
                if not spared:
                    self._recent.append(frame)
                return None
            return self._intact(frame, ordinal, spared)
        kind = self._gaps.kind()
        self._spared_left = self._gaps.next()
        delay = FAULTS[kind].delay
        if delay is not None:
            late = int(self._rng.integers(delay[0], delay[1] + 1))
            self._held.append(_Held(frame, ordinal, self.frames - 1, self._offset, late))
            return []
        self._stretch = [(frame, ordinal)]
        self._stretch_kind = kind
        self._stretch_at = self.frames - 1, self._offset
        return self._inject() if self._collected() else []

    def _collected(self) -> bool:
        first = len(self._stretch[0][0])
        reach = FAULTS[self._stretch_kind].reach
        return sum(len(frame) + 1 for frame, _ in self._stretch) > first + 1 + reach or not reach

    def _intact(self, frame: bytes, ordinal: int, spared: bool) -> list[Piece]:
        """A frame that is sent whole, then the held frames that are due."""
        self._arrive(ordinal)
        if not spared:
            self._recent.append(frame)
        return [frame + self.end, *self._due(ordinal)]

    def _due(self, ordinal: int) -> list[Piece]:
        due = [held for held in self._held if ordinal - held.ordinal >= held.delay]
        self._held = [held for held in self._held if ordinal - held.ordinal < held.delay]
        return [self._release(held) for held in due]

    def _release(self, held: _Held) -> bytes:
        # The actual kind: if frames in between were lost too, a late frame may be too late; at the
        # end of the stream it may be on time after all.
        behind = self._highest - held.ordinal
        kind = "overdue" if behind >= WINDOW else "reorder"
        if behind > 0:
            lost = {"lost": int(kind == "overdue")}
            self._enter(kind, (held.number, held.offset), held.frame, len(held.frame), lost)
        if kind == "reorder":
            self._arrive(held.ordinal)
        return held.frame + self.end

    def _arrive(self, ordinal: int) -> None:
        self.arrived.append(ordinal)
        if ordinal > self._highest and ordinal not in self.ledger.unnumbered:
            self._highest = ordinal

    def _inject(self) -> list[Piece]:
        frames, self._stretch = self._stretch, []
        kind = self._stretch_kind
        data = b"".join(frame + self.end for frame, _ in frames)
        stretch = Stretch(data, len(frames[0][0]), self._delimiter, tuple(self._recent))
        apply = FAULTS[kind].apply
        assert apply is not None
        hit = apply(stretch, self._rng)
        if kind in UNPLUGGING:
            # The host must have time to recover the link before it is unplugged again.
            if frames[0][1] - self._unplugged_at < UNPLUGGED_APART:
                hit = None
            else:
                self._unplugged_at = frames[0][1]
        if hit is None:  # this stretch cannot have the fault
            return [piece for frame, n in frames for piece in self._intact(frame, n, False)]
        pieces, at, size = hit
        unplug = next((piece for piece in pieces if isinstance(piece, Unplug)), None)
        arrived, effects = outcome(frames, pieces, self._recent, self.end, at)
        number, offset = self._stretch_at
        self._enter(kind, (number, offset + at), frames[0][0], size, effects)
        late: list[Piece] = []
        for frame, ordinal in arrived:
            self._arrive(ordinal)
            self._recent.append(frame)
        if arrived and unplug is None:
            late = self._due(arrived[-1][1])
        if unplug is not None and unplug.reboot:
            self._dead = True
            self._recent.clear()
            self._held.clear()
        return [piece for piece in pieces if piece] + late

    def _enter(
        self,
        kind: str,
        where: tuple[int, int],
        frame: bytes,
        size: int,
        effects: dict[str, int],
    ) -> None:
        frame_type = frame[1] if self._delimiter == 0 and len(frame) > 1 else 0
        number, offset = where
        self.ledger.enter(
            Entry(len(self.ledger), kind, number, offset, frame_type, size, **effects)
        )


def outcome(
    frames: list[tuple[bytes, int]],
    pieces: list[Piece],
    recent: Iterable[bytes],
    end: bytes,
    at: int,
) -> tuple[list[tuple[bytes, int]], dict[str, int]]:
    """The frames that arrive, and the effects on a receiver that sees all the pieces of a fault
    that begins at a byte `at`.

    A run that equals one of the frames arrives; one that has arrived before is a copy; any other
    must be refused. After an unplugging a receiver discards bytes up to the first delimiter.
    """
    arrived: list[tuple[bytes, int]] = []
    effects = dict.fromkeys(("lost", "bad", "copies", "empties", "discarded", "resync"), 0)
    waiting = {frame: ordinal for frame, ordinal in frames}
    seen = set(recent)
    stream = b""
    for piece in pieces:
        if isinstance(piece, Unplug):
            *runs, cut = stream.split(end)
            torn, *stale = piece.stale.split(end)
            effects["discarded"] += len(cut) + len(torn)
            stream = b"".join(run + end for run in [*runs, *stale[:-1]])
        else:
            stream += piece
    start, valid_from = 0, -1  # start of a run; start of the first valid run after the fault
    for run in stream.split(end)[:-1]:
        if (run in waiting or run in seen) and start >= at and valid_from < 0:
            valid_from = start
        if not run:
            effects["empties"] += 1
        elif run in waiting:
            arrived.append((run, waiting.pop(run)))
            seen.add(run)
        else:
            effects["copies" if run in seen else "bad"] += 1
        start += len(run) + 1
    effects["lost"] = len(frames) - len(arrived)
    if effects["bad"]:
        effects["resync"] = max(0, (start if valid_from < 0 else valid_from) - at)
    return arrived, effects

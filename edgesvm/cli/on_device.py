"""``edgesvm run PORT --on-device``: the board on the port learns, and this host looks on."""

from __future__ import annotations

import os
import time
from typing import Any

from edgesvm.cli import server
from edgesvm.cli.run_settings import RunSettings
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.service import Service
from edgesvm.cli.snapshots import snapshot
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import stop_signals
from edgesvm.errors import LinkDown
from edgesvm.link.board import BoardLink
from edgesvm.on_device import OnDevice

LAST_FETCH_S = 5.0


class _Board:
    """`OnDevice` as a `Job`: a prediction of the board counts as a sample."""

    def __init__(self, job: OnDevice) -> None:
        self.link, self._job = job.link, job

    @property
    def taken(self) -> int:
        return self.link.predictions

    def step(self, timeout: float, at_most: int | None) -> int:
        return self._job.step(timeout)


def run(settings: RunSettings) -> int:
    """Look on until enough predictions came, a signal arrives or, with --once, the port fails."""
    status, service = settings.show.status_line(), Service()
    (port,) = settings.ports
    with (
        port.saving.claimed(),
        stop_signals() as signals,
        server.opened([port.link], signals) as (link,),
    ):
        assert isinstance(link, BoardLink)  # as --on-device asks
        keeper = Keeper(port.saving.save, status)
        assert settings.fetch_every is not None  # nor without it
        known = _known(port.saving)
        job = OnDevice(link, keeper.keep, model=known, every_s=settings.fetch_every)
        served = server.Served(_Board(job), port.link, status)
        started = time.monotonic()
        status.say(f"the board on {link.name} learns; its model is fetched now")
        service.ready()
        try:
            server.serve(
                [served],
                lambda: progress(job, time.monotonic() - started),
                signals=signals,
                status=status,
                service=service,
            )
            if served.error is not None:
                raise served.error
            if not _fetched_last(job):
                status.say("the board's last snapshot did not come; an earlier one is kept")
        finally:
            service.stopping()
            status.end()
            told = summary(job, time.monotonic() - started)
            settings.show.report(told, [words(told)], status)
    keeper.end()
    server.check(told)
    return 0


def _fetched_last(job: OnDevice) -> bool:
    try:
        return job.fetch(LAST_FETCH_S)
    except LinkDown:
        return False


def _known(saving: SavingSettings) -> Any:
    """The model of --save, if there is one."""
    if not saving.save or saving.fresh or not os.path.exists(saving.save):
        return None
    return snapshot(saving.save)[1]


class Keeper:
    """Saves each model that comes; a save that fails is told, and tried again at the end."""

    def __init__(self, path: str | None, status: StatusLine) -> None:
        self._path, self._status = path, status
        self._unsaved: Any = None

    def keep(self, model: Any) -> None:
        if not self._path:
            return
        self._unsaved = model
        try:
            self.end()
        except OSError as error:
            self._status.say(f"not saved: {error}")

    def end(self) -> None:
        """Save what could not be saved. Raises OSError."""
        if self._unsaved is not None:
            self._unsaved.save(self._path)
            self._unsaved = None
            self._status.say(f"saved to {self._path}")


def progress(job: OnDevice, seconds: float) -> str:
    """The status line."""
    link, last = job.link, job.link.last_prediction
    heartbeat = link.last_heartbeat
    known = "no model yet"
    if job.model is not None:
        known = f"{job.model.n_seen_:,} samples in the last snapshot"
    return (
        f"{link.predictions:,} predictions  {link.predictions / max(seconds, 1e-9):,.0f}/s  "
        f"{link.trained:,} learned  {known}"
        + (f"  last {last.label} ({last.score:+.3g})" if last is not None else "")
        + (f"  free {heartbeat.free_bytes:,} B" if heartbeat and heartbeat.free_bytes else "")
        + f"  restarts {job.restarts:,}  disconnects {link.disconnects:,}"
    )


def summary(job: OnDevice, seconds: float) -> dict[str, Any]:
    """All results, for a JSON line."""
    model = job.model
    known = {} if model is None else {"learner": repr(model), "n_seen": model.n_seen_}
    return {
        **known,
        "seconds": round(seconds, 3),
        "counters": job.counters(),
        "broken_identities": job.link.check_identities(),
    }


def words(summary: dict[str, Any]) -> str:
    """`summary` as text."""
    c = summary["counters"]
    known = "no snapshot came"
    if "learner" in summary:
        known = f"{summary['learner']}, {summary['n_seen']:,} samples seen"
    return "\n".join(
        [
            f"{c['predictions']:,} predictions in {summary['seconds']:.1f} s, "
            f"{c['trained']:,} of samples that were learned",
            f"the board's model: {known}",
            f"{c['fetched']:,} snapshots fetched, {c['given']:,} given, "
            f"{c['restarts']:,} restarts of the board",
            f"link: {c['bytes_rejected']:,} bytes rejected, {c['disconnects']:,} disconnects, "
            f"no answer for too long {c['silent']:,} times",
        ]
    )

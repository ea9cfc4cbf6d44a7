"""``edgesvm run PORT --on-device``: the board on the port learns, and this host looks on."""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

from edgesvm.cli import saved_model, serving
from edgesvm.cli.node_messages import NodeMessages
from edgesvm.cli.service import Service
from edgesvm.cli.snapshots import snapshot
from edgesvm.cli.status import StatusLine
from edgesvm.cli.stopping import stop_signals
from edgesvm.errors import LinkDown
from edgesvm.link.board import BoardLink
from edgesvm.on_device import OnDevice

# Options that say how this host learns, and what they are when not given.
OF_THE_HOST = {
    "text": False,
    "auto": False,
    "key": None,
    "learner": None,
    "window": None,
    "checkpoint": None,
    "set_rate": None,
    "range": None,
    "late_labels": None,
    "max_labels_per_second": None,
    "http": None,
    "live": False,
}
LAST_FETCH_S = 5.0


def check(options: argparse.Namespace) -> None:
    """Raise ValueError if an option was given that says how this host learns."""
    for name, default in OF_THE_HOST.items():
        if getattr(options, name) != default:
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"with --on-device the board learns, not this host: leave out {flag}")


def act(options: argparse.Namespace) -> int:
    check(options)
    status, service = StatusLine(quiet=options.quiet), Service()
    with (
        saved_model.claimed(options),
        stop_signals() as signals,
        serving.open_link(options, signals, service) as link,
    ):
        assert isinstance(link, BoardLink)  # as --on-device asks
        keeper = Keeper(options.save, status)
        job = OnDevice(link, keeper.keep, model=_known(options), every_s=options.fetch_every)
        node = NodeMessages(link, status)
        started = time.monotonic()
        status.say(f"the board on {options.port} learns; its model is fetched now")
        service.ready()

        def turn() -> bool:
            job.step()
            node.show()
            return options.samples is None or link.predictions < options.samples

        try:
            serving.serve(
                options,
                link,
                turn,
                lambda: progress(job, time.monotonic() - started),
                signals=signals,
                status=status,
                service=service,
                saver=None,
            )
            if not _fetched_last(job):
                status.say("the board's last snapshot did not come; an earlier one is kept")
        finally:
            service.stopping()
            status.end()
            told = summary(job, time.monotonic() - started)
            if options.json:
                print(json.dumps(told), flush=True)
            else:
                status.say(words(told))
    keeper.end()
    serving.check(told)
    return 0


def _fetched_last(job: OnDevice) -> bool:
    try:
        return job.fetch(LAST_FETCH_S)
    except LinkDown:
        return False


def _known(options: argparse.Namespace) -> Any:
    """The model of --save, if there is one."""
    if not options.save or options.fresh or not os.path.exists(options.save):
        return None
    return snapshot(options.save)[1]


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
            f"silent {c['silent']:,} times",
        ]
    )

"""What the counters of a run or a watch mean, in words."""

from __future__ import annotations

# What was lost, refused or not learned, and why. In the order in which it is shown.
LOSSES = {
    "missing": "samples never arrived: lost on the line, or dropped by the node",
    "node_samples_dropped": "samples dropped by the node, which had no room for them",
    "ring_dropped": "samples dropped by this host: it learned more slowly than they came",
    "bytes_rejected": "bytes thrown away: no valid frame or line",
    "bad_crc": "frames damaged on the way: wrong checksum",
    "bad_cobs": "frames damaged on the way: wrong framing",
    "bad_len": "frames of a wrong length",
    "oversize": "frames longer than this host accepts",
    "too_long": "lines longer than this host accepts",
    "bad_columns": "lines with the wrong number of columns",
    "bad_char": "lines with a character that is no number",
    "bad_checksum": "lines damaged on the way: wrong checksum",
    "no_checksum": "lines without the checksum that others have",
    "bad_sequence": "lines whose number cannot be read",
    "bad_tag": "frames without a valid tag: another key, or an intruder",
    "replayed": "frames with a tag that were sent before",
    "bad_value": "samples refused: a value is not finite, or out of range",
    "bad_nan": "values that are not a number",
    "bad_inf": "values that are infinite",
    "bad_range": "samples refused: a value is outside --range",
    "bad_dimension": "samples with the wrong number of values",
    "bad_flags": "samples with flags that this version does not know",
    "bad_version": "frames of another version of the protocol",
    "bad_control": "frames of the protocol that cannot be read",
    "schema_mismatch": "samples that the node has not described yet",
    "schema_refused": "descriptions of the samples that were refused",
    "bad_label": "labels that cannot be read",
    "label_mismatch": "labels for another description of the samples",
    "duplicate": "samples that came twice; used once",
    "too_old": "samples that came too late to tell whether they had come before",
    "late": "samples that came behind a later one, left out of the windows",
    "late_samples": "samples that came behind a later one, left out of the windows",
    "refused_samples": "samples refused before the windows: a value is not finite or too large",
    "windows_dropped": "windows dropped, because samples are missing in them",
    "gaps": "gaps in the samples, each of which ends a window",
    "refused_value": "rows refused by the learner: a value is too large",
    "far_out": "rows learned with a value far outside what was seen, which counted as less far",
    "unknown_label": "labels refused: more classes than the learner has room for",
    "rare_label": "labels not learned: damaged, or of a class that came fewer than 3 times so far",
    "labels_refused": "labels left out of windows: more classes than there is room for",
    "over_rate": "labels not learned: more a second than --max-labels-per-second",
    "expired": "labels that came too late: their sample no longer waited",
    "unlabelled": "rows without a label: predicted, not learned",
    "label_duplicate": "labels of samples that had one",
    "label_unknown": "labels of samples that never came",
    "label_dropped": "labels dropped: too many at once",
    "predictions_dropped": "predictions not sent: the node does not read fast enough",
    "disconnects": "times that the port failed",
    "silent": "times that nothing readable came for too long",
    "stale": "times that no sample came for too long (--stale)",
    "clock_jumps": "jumps of the node's clock",
    "seq_jump": "jumps in the numbers of the samples",
}

OTHERS = {
    "taken": "samples taken from the link",
    "learned": "rows learned",
    "taught": "rows learned with a label given by hand",
    "drifts": "times that errors became more",
    "resets": "times that the learner started over at a drift",
    "downtime_seconds": "seconds without a port",
    "not_learned": "rows that left the learner as it was",
    "rows": "rows given to the learner",
    "in_windows": "samples within a window",
    "strange": "rows beyond the threshold",
    "stuck": "rows in which a sensor repeats its value, neither judged nor learned",
    "lost": "times that 250 rows on end were strange",
    "alarms": "alarms",
    "waiting": "rows that wait for a late label",
    "windows": "windows completed",
    "windows_begun": "windows begun",
    "windows_open": "windows not yet complete",
    "pushed": "samples taken into windows",
    "clipped": "samples with a value set to the end of --range",
    "bytes_in": "bytes that arrived",
    "discarded_bytes": "bytes before the first whole frame or line",
    "samples": "samples decoded",
    "predictions_sent": "predictions sent to the node",
    "reconnects": "times that the port was opened again",
    "connect_attempts": "attempts to open the port",
    "downtime_ms": "milliseconds without a port",
    "n_missing": "values that were missing, and taken to be their mean",
    "epochs": "times that the node began to number its samples",
}

# Counts that also fall, or are sizes: gauges to Prometheus.
GAUGES = frozenset(
    [
        "missing",
        "waiting",
        "unlabelled",
        "windows_open",
        "label_queued",
        "late_waiting",
        "late_unlabelled",
        "pending",
        "span",
        "ring_waiting",
        "ring_high_water",
        "ring_capacity",
        "node_samples_made",
        "node_samples_dropped",
    ]
)


def meaning(counter: str) -> str:
    """A counter in words; its name, where there are none."""
    return LOSSES.get(counter) or OTHERS.get(counter) or counter.replace("_", " ")


def losses(counters: dict[str, int]) -> list[dict[str, object]]:
    """The counters of `LOSSES` that are not zero: name, count, and why."""
    return [
        {"name": name, "count": counters[name], "why": why}
        for name, why in LOSSES.items()
        if counters.get(name)
    ]

"""The mutants, one file per area; an entry that no longer applies is an error."""

from __future__ import annotations

from mutant import Area

from areas import (
    auto,
    batch,
    calibration,
    cli,
    contract,
    core,
    data,
    enclosing,
    export,
    firmware_sim,
    fourier,
    gradient,
    incremental,
    ingest,
    multiclass,
    novelty,
    online,
    persist,
    preprocessing,
    randomized,
    runner,
    stream,
    twin,
)

AREAS: list[Area] = [
    core.AREA,
    contract.AREA,
    stream.AREA,
    twin.AREA,
    batch.AREA,
    incremental.AREA,
    randomized.AREA,
    enclosing.AREA,
    export.AREA,
    gradient.AREA,
    auto.AREA,
    fourier.AREA,
    novelty.AREA,
    online.AREA,
    multiclass.AREA,
    preprocessing.AREA,
    calibration.AREA,
    data.AREA,
    ingest.AREA,
    persist.AREA,
    runner.AREA,
    cli.AREA,
    firmware_sim.AREA,
]

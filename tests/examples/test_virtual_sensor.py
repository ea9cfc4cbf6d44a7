"""The example of a flow meter that fouls: it runs as it is told to, over a simulated line."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "virtual_sensor.py"))


@pytest.mark.parametrize("options", [[], ["--healthy"]])
def test_the_alarm_begins_soon_after_the_fault_and_not_before(options, capfd):
    assert EXAMPLE["main"](options) == 0
    told = capfd.readouterr().out
    at = [int(line.split()[4].strip(":").replace(",", "")) for line in told.splitlines()[:-1]]
    if options:
        assert at == []
    else:
        assert EXAMPLE["FOULS"] < at[0] < EXAMPLE["FOULS"] + 60


def test_the_samples_as_a_file(tmp_path):
    path = tmp_path / "pump.csv"
    assert EXAMPLE["main"](["--csv", str(path)]) == 0
    header, first, *rest = path.read_text("utf-8").splitlines()
    assert header == "speed,current,pressure,temperature,valve,flow,fouled"
    assert len(first.split(",")) == 7 and len(rest) == EXAMPLE["END"] - 1

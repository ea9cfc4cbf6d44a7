"""What a user sees of a service, a quiet run with a page, and a folder that holds a model."""

import os
import shutil
import subprocess

import pytest

from tools.first_hour import service


def of(shown):
    return dict(line.split("=", 1) for line in shown.splitlines() if "=" in line[1:])


def test_a_unit_runs_what_was_given_and_keeps_the_model(tmp_path):
    shown = service.run_as_a_service()
    assert shown.startswith("# /etc/systemd/system/edgesvm-ttyUSB0.service\n"), shown
    call = of(shown)["ExecStart"]
    assert call.endswith("-m edgesvm run /dev/ttyUSB0 --text --checkpoint model.ckpt --every 60s")
    assert of(shown)["WorkingDirectory"] == f"%S/{of(shown)['StateDirectory']}"
    assert "PrivateNetwork=yes" in shown and "BindsTo" not in shown
    if analyze := shutil.which("systemd-analyze"):
        path = tmp_path / "edgesvm-ttyUSB0.service"
        path.write_text(shown.removesuffix("exit code 0\n").replace(call.split()[0], "/bin/true"))
        done = subprocess.run(
            [analyze, "verify", "--man=no", str(path)], capture_output=True, text=True, check=False
        )
        assert path.name not in done.stderr, done.stderr


def test_a_unit_with_a_page_has_a_network_and_alarms_are_no_failure():
    shown = service.watch_as_a_service_with_a_page()
    assert "PrivateNetwork" not in shown and "AF_INET6" in shown, shown
    assert of(shown)["SuccessExitStatus"] == "3"


def test_wrong_options_are_said_before_anything_is_written():
    shown = service.service_with_wrong_options()
    assert "--txt (see edgesvm run --help)" in shown and shown.count("exit code 2") == 2, shown
    assert "the service writes to /var/lib/edgesvm-ttyACM0 only; give a name" in shown


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_a_quiet_run_says_where_its_page_is():
    shown = service.quiet_with_a_page()
    line, code = shown.splitlines()
    assert line.startswith("page: http://127.0.0.1:HTTP/#") and code == "exit code 0", shown


def test_an_export_over_another_model_is_refused_and_of_the_same_name_leaves_nothing_old():
    shown = service.export_over_another_model()
    assert "firmware holds the model pump: give another folder, or --prefix pump" in shown, shown
    assert shown.splitlines()[-1] == "pump.c pump.h"

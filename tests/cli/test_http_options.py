"""``--http``: where the page is, who may give labels, what is said where it cannot be served."""

import os
import socket
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest
from fake_port import Clock, Node, connect

from edgesvm import StreamSVM
from edgesvm.cli import main
from edgesvm.cli.options import parsed
from edgesvm.cli.show_settings import TeachingSettings, address
from edgesvm.serve.page.view import RunView
from edgesvm.serve.process import StatusLine
from edgesvm.serve.taught import taught


def shown(*words):
    return parsed(TeachingSettings, " ".join(words))


@contextmanager
def serving(*words, seen=None):
    """What is to be called between two steps, by the name of the port."""
    with shown(*words).at({"p": lambda: seen or view_of_a_run()}, StatusLine()) as looks:
        yield looks


def view_of_a_run():
    link, _ = connect(Clock(), Node())
    return RunView(taught(link, StreamSVM().allocate(2)))


def test_it_is_bound_to_this_machine_unless_told():
    assert address("8080") == ("127.0.0.1", 8080)
    assert address("0.0.0.0:80") == ("0.0.0.0", 80) and address("[::1]:0") == ("::1", 0)
    for wrong in ("", ":80", "x", "a:b", "65536", "-1", "²"):
        with pytest.raises(ValueError, match="give a port"):
            address(wrong)


def test_the_token_is_said_at_the_start_or_kept_in_a_file(tmp_path, capsys):
    file = tmp_path / "token"
    tokens = set()
    for words in (
        ["--http", "0"],
        ["--http", "0"],
        ["--http", "0", "--http-token-file", str(file)],
    ):
        with serving(*words) as looks:
            looks["p"]()
        said = capsys.readouterr().err
        tokens.add(said.partition("#")[2].partition(" ")[0])
        assert said.startswith("page: http://127.0.0.1:")
    assert len(tokens) == 3 and "" in tokens  # a file's token is not said
    kept = file.read_text().strip()
    assert len(kept) >= 16 and file.stat().st_mode & 0o777 == 0o600
    with serving(*words):
        assert file.read_text().strip() == kept
    file.write_text("short\n")
    with (
        pytest.raises(OSError, match="16 or more"),
        serving(*words),
    ):
        pass
    if os.name == "posix" and os.getuid() == 0:
        os.chmod(file, 0o644)
        with (
            pytest.raises(PermissionError, match="chmod 600"),
            serving(*words),
        ):
            pass


def test_a_port_that_is_taken_is_an_error_of_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ["--http", str(taken.getsockname()[1])]
        with (
            pytest.raises(OSError, match="cannot be served"),
            serving(*words),
        ):
            pass
    with pytest.raises(SystemExit):
        main(["run", "/dev/null", "--http", "nowhere"])


def test_without_a_page_nothing_is_kept():
    with shown().at({"p": pytest.fail}, StatusLine()) as looks:
        assert looks == {}


def test_at_the_end_the_port_is_free_and_no_thread_is_left(capsys):
    before = threading.active_count()
    seen = view_of_a_run()
    with serving("--http", "0", seen=seen) as looks:
        url = capsys.readouterr().err.split()[1].partition("#")[0]
        asker = threading.Thread(target=lambda: urllib.request.urlopen(url + "status.json").close())
        asker.start()
        while asker.is_alive():
            looks["p"]()
            time.sleep(0.001)
        assert seen.statuses == 1 and seen.history.n >= 1
    assert threading.active_count() == before
    with pytest.raises(OSError):
        urllib.request.urlopen(url)

"""Lines in files and on standard output: whole on a disk that is full."""

import json
import os
import threading

import pytest
from outgoing import answers, output, until, write

from edgesvm.serve.outputs import output as module
from edgesvm.serve.outputs.files import File, StandardOutput

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def numbers(text):
    assert text == "" or text.endswith("\n")
    return [json.loads(line)["sequence"] for line in text.splitlines()]


def test_a_file_goes_on_where_it_ended_and_a_torn_line_ends_first(tmp_path):
    path = tmp_path / "p.jsonl"
    for n in (3, 2):
        with output(File(str(path)), answers(n)) as out:
            assert until(lambda out=out, n=n: out.sent == n)
    assert numbers(path.read_text()) == [0, 1, 2, 0, 1]
    path.write_text(path.read_text()[:-20])  # a power cut
    with output(File(str(path)), answers(1)) as out:
        assert until(lambda: out.sent == 1)
    *_, torn, last = path.read_text().splitlines()
    with pytest.raises(json.JSONDecodeError):
        json.loads(torn)
    assert json.loads(last)["sequence"] == 0


def test_a_full_disk_leaves_whole_lines_and_is_tried_again(tmp_path, monkeypatch):
    """The disk has room up to a size, as if others had filled it, and then again."""
    resource = pytest.importorskip("resource", reason="limits are POSIX")
    monkeypatch.setattr(module, "PAUSE_FIRST_S", 0.01)
    path = tmp_path / "p.jsonl"
    path.write_text("x" * 99_999 + "\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    said, journal = [], answers(40)
    resource.setrlimit(resource.RLIMIT_FSIZE, (101_000, before[1]))
    try:
        with output(File(str(path)), journal, report=said.append) as out:
            try:
                assert until(lambda: out.failed > 1)
                assert numbers(path.read_text()[100_000:]) == list(range(out.sent))
                assert 0 < out.sent < 10 and len(said) == 1
                write(journal, 30)
                assert until(lambda: out.lost == 30 - out.sent)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            assert until(lambda: out.sent + out.lost == 70)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    lost = out.lost
    found = numbers(path.read_text()[100_000:])
    assert found == [*range(30 - lost), *range(30, 70)] and out.sent == 70 - lost


def test_standard_output_gets_whole_lines_whoever_reads_slowly(monkeypatch):
    monkeypatch.setattr(module, "FLUSH_S", 60.0)
    reader, writer = os.pipe()
    journal, got = answers(3000), []
    with os.fdopen(reader) as lines, output(StandardOutput(writer), journal) as out:
        assert until(lambda: out.sent > 0)
        write(journal, 1000)
        reading = threading.Thread(target=lambda: got.extend(lines))
        reading.start()
        out.stop()
        os.close(writer)
        reading.join(60)
    found = numbers("".join(got))
    assert len(found) == out.sent == 4000 - out.lost and found == sorted(found)
    assert found[-1] == 3999 and found[0] == 0


@needs_full
def test_standard_output_on_a_full_disk_or_without_a_reader_loses_and_counts():
    full = os.open("/dev/full", os.O_WRONLY)
    reader, gone = os.pipe()
    os.close(reader)
    for fd in (full, gone):
        with output(StandardOutput(fd), answers(5)) as out:
            assert until(lambda out=out: out.failed)
        assert out.lost == 5
        os.close(fd)


def test_the_rest_of_a_line_that_was_cut_comes_first(monkeypatch, tmp_path):
    """A disk that fills within a line, and has room again."""
    room, write_all = [150, 30, 10**6], os.write

    def write(fd, data):
        if fd != file.fileno():
            return write_all(fd, data)
        return write_all(fd, data[: room.pop(0) if len(room) > 1 else room[0]])

    monkeypatch.setattr("edgesvm.serve.outputs.files.os.write", write)
    with (
        open(tmp_path / "out", "wb") as file,
        output(StandardOutput(file.fileno()), answers(9)) as out,
    ):
        assert until(lambda: out.sent == 9)
    assert numbers((tmp_path / "out").read_text()) == list(range(9))

"""A command of edgesvm in this process."""

from edgesvm.cli import main


def said(capsys, *argv, code=0):
    """What it prints to stdout and to stderr; it ends with this code."""
    try:
        got = main([str(word) for word in argv])
    except SystemExit as done:  # argparse
        got = done.code or 0
    out, err = capsys.readouterr()
    assert got == code, err
    return out, err


def complaint(capsys, code, *argv):
    """The one line on stderr."""
    out, err = said(capsys, *argv, code=code)
    assert out == "" and "Traceback" not in err
    lines = [line for line in err.splitlines() if line.startswith("edgesvm: ")]
    assert len(lines) == 1, err
    return lines[0]

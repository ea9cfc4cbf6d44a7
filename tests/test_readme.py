"""The Python in README.md and docs/ runs and prints what its comments say, the commands and options
exist, and so do the files that the pages link to."""

import re
import shlex
from pathlib import Path

import pytest
from each import each

from edgesvm.cli import main
from edgesvm.link.wire import encode_frame

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [*PAGES, *sorted(ROOT.glob("[C-S]*.md")), *sorted(ROOT.glob("examples/**/*.md"))]
N_BLOCKS = {
    "README.md": 2,
    "learners.md": 12,
    "microcontrollers.md": 1,
    "batch-and-files.md": 4,
    "scikit-learn.md": 4,
    "river.md": 4,
    "memory.md": 1,
    "protocol.md": 2,
    "write-a-learner.md": 4,  # files, run by tests/docs
}


NEEDS = {
    "scikit-learn": [("sklearn", None), ("joblib", None)],
    "river": [("river", "0.26")],
}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def run_page(tmp_path, monkeypatch, capsys):
    """Run a page's Python in order; the page's text and the lines it printed."""

    def run(page: str) -> tuple[str, list[str]]:
        monkeypatch.chdir(tmp_path)
        namespace: dict = {}
        for block in python_blocks(ROOT / page):
            exec(compile(block, page, "exec"), namespace)
        return (ROOT / page).read_text(encoding="utf-8"), capsys.readouterr().out.splitlines()

    return run


def test_every_page_with_python_is_run_below():
    found = {page.name: len(python_blocks(page)) for page in PAGES if python_blocks(page)}
    assert found == N_BLOCKS


def test_readme(run_page):
    text, (planned, predicted) = run_page("README.md")
    assert planned == re.search(r"print\(model.plan\(8\).total\)  # (\d+)", text)[1]
    label, accuracy = predicted.split()
    assert label in ("worn", "fine")
    assert float(accuracy) > 0.8


def test_learners(run_page):
    text, printed = run_page("docs/learners.md")
    first, fourier, twins, residual, *printed = printed
    exact, left_out, stored, solved, explains, covers, alarms, *printed = printed
    windows, chained, clocked, probable, *many = printed
    value, sine = stored.strip("[").split("] ")
    assert abs(float(value) - float(sine)) < 0.1 and solved.endswith("True")
    assert (explains, covers) == ("True", "True")
    at, sine = exact.strip("[").split("] ")
    assert abs(float(at) - float(sine)) < 0.1 and 0 < float(left_out) < 0.3
    assert alarms == "[ 1  1 -1]"
    fault, fine = map(float, probable.split("[")[2].rstrip("]").split())
    assert 0 < fault < 0.2 and abs(fault + fine - 1) < 1e-6
    assert float(first) > 0.9 and float(fourier) > 0.95
    assert windows == re.search(r"names\(\)\[:3\]\)  # (.*)$", text, re.MULTILINE)[1]
    assert chained == "True"
    assert f"# {clocked}\n" in text
    n_twins, accuracy = twins.split()
    assert n_twins == re.search(r"# (\d+) twins", text)[1]
    assert float(accuracy) > 0.975
    assert float(residual) < 1e-9
    n_bytes, accuracy = many[0].split()
    assert n_bytes == re.search(r"in one block of (\d+)", text)[1]
    assert float(accuracy) > 0.9 and many[1:] == ["(1000, 10)"]


def test_batch_and_files(run_page):
    text, printed = run_page("docs/batch-and-files.md")
    converged, held, whole, scores, sparse, ball_converged, ball = printed
    assert converged == "True"
    n_bytes, n_given_up = map(int, held.split())
    assert f"{n_bytes:,}" == re.search(r"# ([\d,]+) bytes; support", text)[1] and n_given_up > 0
    assert whole == "optimal True"
    assert scores == re.search(r"whole\)\]\)  # (.*)$", text, re.MULTILINE)[1]
    n_bytes, accuracy = sparse.split()
    assert int(n_bytes) < 500 * 40_000 * 4 and float(accuracy) == 1.0
    n_core, _, accuracy = ball.split()
    assert ball_converged == "True" and float(accuracy) > 0.995
    about = int(re.search(r"# about ([\d,]+) vectors", text)[1].replace(",", ""))
    assert abs(int(n_core) - about) < 100


def test_microcontrollers(run_page):
    text, (n_bytes,) = run_page("docs/microcontrollers.md")
    assert n_bytes == re.search(r"print\(model.nbytes\)  # (\d+) bytes", text)[1]


@pytest.mark.parametrize("page", ["scikit-learn", "river", "memory", "protocol"])
def test_what_a_comment_says_is_printed(run_page, page):
    for package, at_least in NEEDS.get(page, ()):
        pytest.importorskip(package, at_least, reason=f"{package} is not installed")
    text, printed = run_page(f"docs/{page}.md")
    assert printed == re.findall(r"^ *print\(.*\)  # (.*)$", text, re.MULTILINE)


def test_the_frame_of_the_protocol():
    text = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    sent, with_zeros = re.findall(r"^(?:on the wire|zeros back) +(.*)$", text, re.MULTILINE)
    raw = bytes.fromhex(with_zeros)
    frame = encode_frame(raw[0], raw[8:-4], flags=1, schema_id=0x6E16, sequence=1041)
    assert frame == bytes.fromhex(sent)
    fields = re.findall(r"^\| `((?:[0-9a-f]{2} ?)+)` \|", text, re.MULTILINE)
    assert bytes.fromhex("".join(fields)) == raw


def command_lines(page: Path) -> list[str]:
    blocks = re.findall(r"```(\w*)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    plain = [line for kind, block in blocks if not kind for line in block.splitlines()]
    return [line for line in plain if line.startswith("edgesvm ")]


@each("page", [page for page in PAGES if command_lines(page)], ids=name)
def test_commands_and_options_exist(page, capsys):
    for line in command_lines(page):
        _, command, *rest = shlex.split(line, comments=True)
        with pytest.raises(SystemExit) as end:
            main([command, "--help"])
        shown = capsys.readouterr().out
        assert end.value.code == 0 and shown, line
        for option in (word for word in rest if re.match(r"--?[a-z]", word)):
            assert re.search(rf"{option}[ ,\]\n]", shown), line


@each("page", LINKED, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 1200


def test_make_targets_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test", "build", "lint", "docs", "contract"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)

"""The learner of docs/write-a-learner.md, taken out of the page, built, and put through the
contract: in a package of its own by the page's commands, in the long run in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
PAGE = (ROOT / "docs" / "write-a-learner.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE)
FILES = {path: text for kind, path, text in BLOCKS if kind in ("python", "cython")}
EDITS = {path: text for kind, path, text in BLOCKS if kind in ("py", "meson")}
COMMANDS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
FOLDER = "edgesvm/learners/papers/online"
OUTSIDE = {
    f"{FOLDER}/adaline.py": "adaline/adaline.py",
    f"{FOLDER}/_adaline.pyx": "adaline/_adaline.pyx",
    "tests/reference/adaline.py": "adaline/_adaline_ref.py",
}
PRINTED = re.search(r"> 0\.9\)  # (.*)$", PAGE, re.MULTILINE)[1]


def runner(folder, **more):
    """Run a command of the page in a folder; its standard output."""
    here = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    here |= {"PATH": f"{TOOLS}{os.pathsep}{here['PATH']}", **more}

    def run(command):
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=folder,
            env=here,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
        return done.stdout

    return run


def needs(*programs):
    for name in programs:
        if not (TOOLS / name).exists() and not shutil.which(name):
            pytest.skip(f"{name} is not installed")


def test_it_is_three_files_and_two_lines():
    assert [path for path in FILES if path.startswith(("edgesvm/", "tests/"))] == list(OUTSIDE)
    assert list(EDITS) == ["edgesvm/catalogue.py", f"{FOLDER}/meson.build"]
    assert all((ROOT / path).is_file() for path in EDITS)
    assert re.search(r"^contract: ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.timeout(1200)  # the contract of one learner, beside whatever else this machine does
def test_in_a_package_of_its_own(tmp_path):
    needs("cython", "bash", "cc")
    (tmp_path / "adaline").mkdir()
    (tmp_path / "adaline" / "__init__.py").touch()
    for path, text in FILES.items():
        inside = text.replace("edgesvm.learners.papers.online._adaline ", "adaline._adaline ")
        if path == "use.py":
            inside = inside.replace(
                "from edgesvm import Adaline, ",
                "from adaline.adaline import Adaline\nfrom edgesvm import ",
            )
        (tmp_path / OUTSIDE.get(path, path)).write_text(inside, encoding="utf-8")
    run = runner(tmp_path, EDGESVM=str(ROOT))
    build, contract = COMMANDS
    run(build)
    assert int(re.search(r"(\d+) passed", run(contract))[1]) > 20
    assert run("python use.py").strip() == PRINTED


@pytest.mark.long
def test_in_a_copy_of_the_tree(tmp_path):
    """Built and installed without pip: what `make contract` does in a clone."""
    needs("cython", "bash", "cc", "meson", "ninja", "git")
    tree, site = tmp_path / "edgesvm", tmp_path / "site"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in tracked.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    for path, text in FILES.items():
        if path in OUTSIDE:
            (tree / path).write_text(text, encoding="utf-8")
    catalogue, build = ((tree / path, text) for path, text in EDITS.items())
    before, after = catalogue[0].read_text(encoding="utf-8").split("CATALOGUE = (\n")
    catalogue[0].write_text(f"{before}CATALOGUE = (\n{catalogue[1]}{after}", encoding="utf-8")
    with build[0].open("a", encoding="utf-8") as file:
        file.write(build[1])
    run = runner(tmp_path, PYTHONPATH=str(site))
    site.mkdir()  # what is installed there comes before an editable install of this tree
    (site / "sitecustomize.py").write_text(
        "import sys\n"
        "sys.meta_path = [f for f in sys.meta_path if type(f).__name__ != 'MesonpyMetaFinder']\n"
    )
    options = f"-Dpython.purelibdir={site} -Dpython.platlibdir={site}"
    run(f"meson setup {options} build {tree} && ninja -C build && meson install -C build")
    assert (site / "edgesvm" / "learners" / "papers" / "online" / "adaline.py").is_file()
    (tmp_path / "use.py").write_text(FILES["use.py"], encoding="utf-8")
    assert run("python use.py").strip() == PRINTED
    for package in ("edgesvm", "firmware_sim"):
        shutil.rmtree(tree / package)  # what is installed is tested
    told = run(f"cd {tree}/tests && python -m pytest -q -m 'not long' -k Adaline conformance")
    assert int(re.search(r"(\d+) passed", told)[1]) > 20

"""The files beside the sources: each build that can be had here takes the folder; what a compiler
would do wrongly is refused; the examples of docs/microcontrollers.md compile."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from on_host import STRICT

from edgesvm import (
    AdaGradSVR,
    ByteSVM,
    FourierSVR,
    GaussianNovelty,
    KernelNovelty,
    Standardized,
    StreamSVM,
)
from edgesvm.export.folder import export

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "microcontrollers.md"
# as Arduino's boards compile libraries
ARDUINO = "-Os -ffunction-sections -fdata-sections"
ARDUINO_CPP = "-std=gnu++17 -fno-exceptions -fno-rtti -fpermissive -Wall -Wextra -Werror"
MAIN = '#include "pump.h"\nint main(void) { return esvm_self_test() != ESVM_SELF_TEST; }\n'


def needs(*programs):
    absent = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(absent), reason=f"no {', '.join(absent)} on the path")


def run(*command, cwd=None):
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def pump(tmp_path):
    """The folder of a model of three features."""
    model = Standardized(learner=StreamSVM()).allocate(3, classes=[0, 1])
    export(model, tmp_path / "pump", "pump")
    return tmp_path / "pump"


BELOW = """\
cmake_minimum_required(VERSION 3.13)
project(app C)
add_subdirectory(pump)
add_executable(app main.c)
target_link_libraries(app pump)
"""
ZEPHYR = """\
cmake_minimum_required(VERSION 3.13)
project(zephyr C)
macro(zephyr_library_named name)
  set(made ${name})
  add_library(${name} STATIC)
endmacro()
macro(zephyr_library_sources)
  target_sources(${made} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${made} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  target_include_directories(${made} PUBLIC ${ARGN})
endmacro()
add_subdirectory(pump)
add_executable(app main.c)
target_link_libraries(app pump m)
"""


@needs("cmake", "gcc")
@pytest.mark.parametrize("lists", [BELOW, ZEPHYR], ids=["cmake", "zephyr"])
def test_cmake_builds_it_below_a_program_and_as_a_module_of_zephyr(lists, pump, tmp_path):
    """Zephyr's own functions are stand-ins here."""
    module = (pump / "zephyr" / "module.yml").read_text()
    assert module == "name: pump\nbuild:\n  cmake: .\n"
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(lists)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    run(tmp_path / "build" / "app")


SKETCH_MAIN = """\
#include <Arduino.h>
#include "%s"
void pinMode(int, int) {}
int digitalRead(int pin) { return pin & 1; }
void digitalWrite(int, int) {}
int analogRead(int pin) { return pin; }
void delay(unsigned long) {}
int main() { for (setup();;) loop(); }
"""


@needs("avr-gcc", "avr-g++", "avr-size")
def test_a_sketch_that_learns_fits_an_uno(tmp_path):
    """Beside a stand-in of Arduino's core, with the flags of its builder."""
    folder = tmp_path / "pump"
    export(ByteSVM(n_bytes=800).allocate(4, classes=[0, 1]), folder, "pump")
    properties = (folder / "library.properties").read_text()
    assert "architectures=*\n" in properties
    sketch = folder / "examples/pump_learn/pump_learn.ino"
    (tmp_path / "main.cpp").write_text(SKETCH_MAIN % sketch)
    uno = ["-mmcu=atmega328p", *ARDUINO.split(), f"-I{folder / 'src'}", f"-I{HERE / 'vendor'}"]
    objects = []
    for source in sorted((folder / "src").glob("*.c")):
        objects.append(tmp_path / f"{source.stem}.o")
        run("avr-gcc", *uno, "-c", source, "-o", objects[-1])
    app = tmp_path / "app.elf"
    cpp = ["-std=gnu++11", "-fpermissive", "-Wl,--gc-sections"]
    run("avr-g++", *uno, *cpp, tmp_path / "main.cpp", *objects, "-o", app)
    parts = dict(
        line.split()[:2] for line in run("avr-size", "-A", app).splitlines() if "." in line
    )
    assert int(parts[".text"]) + int(parts.get(".data", 0)) <= 27 << 10  # of 31.5 KiB
    assert int(parts.get(".data", 0)) + int(parts[".bss"]) <= 1200


@needs("gcc", "g++", "ar")
def test_arduino_compiles_src_and_finds_the_header_there(pump, tmp_path):
    fields = dict(
        line.split("=", 1) for line in (pump / "library.properties").read_text().splitlines()
    )
    # What Arduino's library specification asks for, and arduino-lint of a library to be submitted.
    wanted = "name version author maintainer sentence category url architectures includes"
    assert all(fields[name] for name in wanted.split()) and "paragraph" in fields
    assert re.fullmatch(r"[a-zA-Z][\w.-]{0,31}", fields["name"])
    assert re.fullmatch(r"https://\S+", fields["url"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["version"])
    assert not re.search("arduino|library", fields["name"] + fields["maintainer"], re.I)
    assert fields["includes"] == "pump.h" and fields["dot_a_linkage"] == "true"
    architectures = fields["architectures"].split(",")
    assert "avr" not in architectures and {"samd", "esp32", "rp2040"} <= set(architectures)
    assert (pump / "examples/pump_learn/pump_learn.ino").exists()
    assert "Redistribution" in (pump / "LICENSE").read_text()
    assert (pump / "README.md").read_text().startswith("# pump\n\nStandardized(")
    (tmp_path / "main.cpp").write_text(MAIN)
    objects = []
    for source in sorted((pump / "src").glob("*.c")):
        objects.append(tmp_path / f"{source.stem}.o")
        run("gcc", *ARDUINO.split(), f"-I{pump / 'src'}", "-c", source, "-o", objects[-1])
    run("ar", "rcs", tmp_path / "libpump.a", *objects)
    flags = [*ARDUINO.split(), *ARDUINO_CPP.split(), f"-I{pump / 'src'}"]
    run("g++", *flags, tmp_path / "main.cpp", tmp_path / "libpump.a", "-lm", "-o", tmp_path / "app")
    run(tmp_path / "app")


@needs("arm-none-eabi-gcc", "arm-none-eabi-g++")
def test_arduino_s_compiler_for_a_board_takes_it_too(pump, tmp_path):
    (tmp_path / "main.cpp").write_text(MAIN)
    nano = "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=softfp"
    flags = [*nano.split(), *ARDUINO.split(), f"-I{pump / 'src'}", "-fsyntax-only"]
    run("arm-none-eabi-g++", *flags, *ARDUINO_CPP.split(), tmp_path / "main.cpp")
    for source in (pump / "src").glob("*.c"):
        run("arm-none-eabi-gcc", *flags, source)


@needs("arm-none-eabi-gcc", "arm-none-eabi-g++")
@pytest.mark.parametrize("kind", [AdaGradSVR, FourierSVR, GaussianNovelty, KernelNovelty])
def test_a_sketch_without_labels_compiles(kind, tmp_path):
    """A regressor's forecasts, a novelty learner watches."""
    folder = tmp_path / "tank"
    regresses = kind.__name__.endswith("SVR")
    learner = Standardized(learner=kind(), missing="mean") if regresses else kind()
    export(learner.allocate(3), folder, "tank")
    header = (folder / "tank.h").read_text()
    assert ("tank_forecast(" in header) == regresses
    sketch = (folder / "examples/tank_learn/tank_learn.ino").read_text()
    assert ("tank_forecast(" in sketch) == regresses == ("learned < LEARN" not in sketch)
    (tmp_path / "main.cpp").write_text(
        f'#include <Arduino.h>\n#include "{folder}/examples/tank_learn/tank_learn.ino"\n'
    )
    flags = ["-mcpu=cortex-m0plus", "-mthumb", *ARDUINO.split(), "-fsyntax-only"]
    includes = [f"-I{folder / 'src'}", f"-I{HERE / 'vendor'}"]
    run("arm-none-eabi-g++", *flags, *ARDUINO_CPP.split(), *includes, tmp_path / "main.cpp")
    for source in (folder / "src").glob("*.c"):
        run("arm-none-eabi-gcc", *flags, *includes, source)


def test_platformio_compiles_each_source_once(pump):
    built = json.loads((pump / "library.json").read_text())["build"]
    patterns = [entry[2:-1] for entry in built["srcFilter"]]
    assert built["srcDir"] == "." and all(e.startswith("+<") for e in built["srcFilter"])
    chosen = {path for pattern in patterns for path in pump.glob(pattern)}
    outside = {path for path in pump.rglob("*.c") if path.parent.name != "src"}
    assert chosen == outside
    # and src/ has one line for each of them
    assert {path.name for path in (pump / "src").glob("*.c")} == {path.name for path in outside}


# -- traps -----------------------------------------------------------------------------------------

NEWLIB = "/usr/include/newlib"
CORTEX_A = f"--target=arm-none-eabi -mcpu=cortex-a7 -mfloat-abi=hard -isystem {NEWLIB}"
FAST = "-ffast-math and its parts change the model"
TRAPS = {
    "gcc -ffast-math": FAST,
    "gcc -Ofast": FAST,
    "gcc -ffinite-math-only": FAST,
    "gcc -funsafe-math-optimizations": FAST,
    "gcc -freciprocal-math": FAST,
    "gcc -fassociative-math -fno-signed-zeros -fno-trapping-math": FAST,
    "clang -ffast-math": FAST,
    "gcc -mfpmath=387": "sums must be rounded to their own type",
    "avr-gcc -mmcu=atmega328p": "a double must have 64 bits; on AVR it has 32",
    f"clang {CORTEX_A} -mfpu=neon": "32-bit NEON takes subnormal numbers for zero",
}


def stopped(pump, compiler, name="pump.c"):
    """What a compiler says of a file; skips if it is not there."""
    program, *flags = compiler.split()
    if shutil.which(program) is None:
        pytest.skip(f"no {program} on the path")
    if NEWLIB in compiler and not Path(NEWLIB).is_dir():
        pytest.skip(f"no {NEWLIB}: Debian has it in libnewlib-dev")
    command = [program, *flags, "-std=c99", "-fsyntax-only", f"-I{pump}", str(pump / name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("compiler", TRAPS)
def test_a_compiler_that_changes_the_model_is_refused(compiler, pump):
    names = ("pump.c", "edgesvm/esvm.c", "edgesvm/soft.c")
    for name in names[: 1 if "avr" in compiler else 3]:  # there, the others hold no double
        assert TRAPS[compiler] in stopped(pump, compiler, name)


@pytest.mark.parametrize("compiler", ["gcc -O2", f"clang {CORTEX_A} -mfpu=vfpv3-d16"])
def test_one_that_does_not_is_not(compiler, pump):
    assert stopped(pump, compiler) == ""


# -- the page's examples ---------------------------------------------------------------------------

BLOCKS = re.findall(r"```(c|cpp)\n(/\* ([\w ]+).*?)```", PAGE.read_text(encoding="utf-8"), re.S)
COMPILE = {
    "c": ["gcc", "-std=gnu11"],
    "cpp": ["g++", *ARDUINO_CPP.split()],
}


def test_every_block_of_c_is_compiled_below():
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCKS) == len(re.findall(r"```c(?:pp)?\n", text)) == 5


@needs("gcc", "g++")
@pytest.mark.parametrize("kind, text", [b[:2] for b in BLOCKS], ids=[b[2] for b in BLOCKS])
def test_an_example_fits_the_vendor_s_types(kind, text, pump, tmp_path):
    """Against stand-ins of the vendor's headers, which have what is called and no more."""
    source = tmp_path / f"main.{kind}"
    ahead = "#include <Arduino.h>\n" if "Arduino" in text[:12] else ""  # as its builder does
    source.write_text(ahead + text)
    includes = [f"-I{HERE / 'vendor'}", f"-I{pump / 'src'}"]
    warnings = [flag for flag in STRICT if flag not in ("-std=c99", "-pedantic")]
    run(*COMPILE[kind], *warnings, *includes, "-fsyntax-only", source)

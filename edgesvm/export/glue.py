"""What builds need beside the sources: Make, CMake, Zephyr, the Pico SDK, Arduino, PlatformIO."""

from __future__ import annotations

import json
import re

from edgesvm.export.units import read

VERSION = "1.0.0"
# Arduino's architectures whose double has 64 bits. Others are not refused, but warned of.
WITH_DOUBLE = (
    "apollo3,esp32,esp8266,mbed,mbed_giga,mbed_nano,mbed_opta,mbed_portenta,mbed_rp2040,nrf52,"
    "renesas_portenta,renesas_uno,rp2040,sam,samd,STM32F1,stm32,teensy,zephyr"
)


def glue(
    prefix: str, title: str, sources: list[str], *, header: str = "", of_integers: bool = False
) -> dict[str, str]:
    """Name -> text of each file."""
    name = prefix.replace("_", "-")
    texts = {
        "Makefile": read("floor", "Makefile.txt").replace("NAME", prefix),
        "CMakeLists.txt": read("floor", "CMakeLists.txt")
        .replace("SOURCES", " ".join(sources))
        .replace("NAME", prefix),
        "zephyr/module.yml": f"name: {name}\nbuild:\n  cmake: .\n",
        "library.json": library_json(name, title),
        "library.properties": library_properties(name, title, prefix, of_integers=of_integers),
        "README.md": read("floor", "README.txt")
        .replace("NAME", prefix)
        .replace("TITLE", sentence(title)),
        "LICENSE": read("floor", "LICENSE"),
    }
    if f"void {prefix}_begin(" in header and f"{prefix}_push(" not in header:
        which = sketch_for(prefix, header)
        sketch = read("floor", which).replace("NAME", prefix.upper()).replace("name", prefix)
        texts[f"examples/{prefix}_learn/{prefix}_learn.ino"] = sketch
    # Arduino compiles what is in src/ and looks for headers there
    for path in [f"{prefix}.h", *sources]:
        own = path.rsplit("/", 1)[-1]
        texts[f"src/{own}"] = f'#include "../{path}"\n'
    return texts


def sketch_for(prefix: str, header: str) -> str:
    if f"{prefix}_forecast(" in header:
        return "regress.ino"
    return "watch.ino" if "this model has no labels" in header else "learn.ino"


def library_json(name: str, title: str) -> str:
    """What PlatformIO reads; src/ is Arduino's."""
    content = {
        "name": name,
        "version": VERSION,
        "description": f"{title}: a model of edgesvm",
        "frameworks": "*",
        "platforms": "*",
        "build": {
            "srcDir": ".",
            "includeDir": ".",
            "srcFilter": ["+<*.c>", "+<edgesvm/*.c>"],
            "flags": ["-ffp-contract=off"],
        },
    }
    return json.dumps(content, indent=2) + "\n"


def sentence(title: str) -> str:
    return re.sub(r"\s+", " ", f"{title}: a model of edgesvm")


def library_properties(name: str, title: str, prefix: str, *, of_integers: bool) -> str:
    """What Arduino reads. As archives, two models have the runtime once."""
    lines = {
        "name": name,
        "version": VERSION,
        "author": "edgesvm",
        "maintainer": "edgesvm",
        "sentence": sentence(title),
        "paragraph": "",
        "category": "Data Processing",
        "url": "https://pypi.org/project/edgesvm/",
        "architectures": "*" if of_integers else WITH_DOUBLE,
        "includes": f"{prefix}.h",
        "dot_a_linkage": "true",
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items())

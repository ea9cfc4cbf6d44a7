"""What builds need beside the sources: Make, CMake, Zephyr, the Pico SDK, Arduino, PlatformIO."""

from __future__ import annotations

import json
import re

from edgesvm.export.texts import read

VERSION = "1.0.0"


def glue(prefix: str, title: str, sources: list[str]) -> dict[str, str]:
    """Name -> text of each file; `sources` are the model's .c files."""
    name = prefix.replace("_", "-")
    texts = {
        "Makefile": read("floor", "Makefile.txt").replace("NAME", prefix),
        "CMakeLists.txt": read("floor", "CMakeLists.txt")
        .replace("SOURCES", " ".join(sources))
        .replace("NAME", prefix),
        "zephyr/module.yml": f"name: {name}\nbuild:\n  cmake: .\n",
        "library.json": library_json(name, title),
        "library.properties": library_properties(name, title, prefix),
    }
    # Arduino compiles what is in src/ and looks for headers there
    for path in [f"{prefix}.h", *sources]:
        own = path.rsplit("/", 1)[-1]
        texts[f"src/{own}"] = f'#include "../{path}"\n'
    return texts


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


def library_properties(name: str, title: str, prefix: str) -> str:
    """What Arduino reads. As archives, two models have the runtime once."""
    sentence = re.sub(r"\s+", " ", f"{title}: a model of edgesvm")
    lines = {
        "name": name,
        "version": VERSION,
        "author": "edgesvm",
        "maintainer": "edgesvm",
        "sentence": sentence,
        "paragraph": "",
        "category": "Data Processing",
        "url": "",
        "architectures": "*",
        "includes": f"{prefix}.h",
        "dot_a_linkage": "true",
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items())

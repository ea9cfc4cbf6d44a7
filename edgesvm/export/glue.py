"""What builds need beside the sources: Make, CMake, Zephyr, ESP-IDF, the Pico SDK, Arduino,
PlatformIO."""

from __future__ import annotations

import json
import re

from edgesvm.export.texts import read

VERSION = "1.0.0"
# Arduino's architectures whose double has 64 bits. Others are not refused, but warned of.
WITH_DOUBLE = (
    "apollo3,esp32,esp8266,mbed,mbed_giga,mbed_nano,mbed_opta,mbed_portenta,mbed_rp2040,nrf52,"
    "renesas_portenta,renesas_uno,rp2040,sam,samd,STM32F1,stm32,teensy,zephyr"
)


def glue(
    prefix: str, title: str, sources: list[str], *, header: str = "", of_integers: bool = False
) -> dict[str, str]:
    """Name -> text of each file.

    Parameters
    ----------
    sources : the model's .c files
    header : text of NAME.h
    of_integers : whether an AVR can have it
    """
    name = prefix.replace("_", "-")
    texts = {
        "Makefile": read("floor", "Makefile.txt").replace("NAME", prefix),
        "CMakeLists.txt": read("floor", "CMakeLists.txt")
        .replace("SOURCES", " ".join(sources))
        .replace("NAME", prefix),
        "zephyr/module.yml": f"name: {name}\nbuild:\n  cmake: .\n",
        "library.json": library_json(name, title),
        "library.properties": library_properties(name, title, prefix, of_integers=of_integers),
        "keywords.txt": keywords(prefix, header),
        "README.md": read("floor", "README.txt")
        .replace("NAME", prefix)
        .replace("TITLE", sentence(title)),
        "LICENSE": read("floor", "LICENSE"),
        "idf_component.yml": f'version: "{VERSION}"\ndescription: {json.dumps(sentence(title))}\n',
    }
    if f"void {prefix}_begin(" in header and f"{prefix}_push(" not in header:
        which = sketch_for(prefix, header)
        sketch = read("floor", which).replace("NAME", prefix.upper()).replace("name", prefix)
        texts[f"examples/{prefix}_learn/{prefix}_learn.ino"] = sketch
    if of_integers:
        texts[f"micropython/{prefix}_native.c"] = native(prefix)
        texts["micropython/Makefile"] = NATIVE_MAKEFILE.replace("NAME", prefix)
    # Arduino compiles what is in src/ and looks for headers there
    for path in [f"{prefix}.h", *sources]:
        own = path.rsplit("/", 1)[-1]
        texts[f"src/{own}"] = f'#include "../{path}"\n'
    return texts


NATIVE = """\
/* The model as a native module of MicroPython: make -C micropython MPY_DIR=... ARCH=armv6m
 *
 *   import NAME, array
 *   model = bytearray(NAME.N_BYTES)
 *   NAME.begin(model)
 *   x = array.array('f', [0.0] * NAME.N_FEATURES)
 *   NAME.predict(model, x)      its class index, or -1
 *   NAME.learn(model, x, 1)     0 or 1, if it was learned
 *   NAME.snapshot(model)        what the host loads
 *
 * A bytearray lies at a multiple of 8 bytes or more. */
#include "py/dynruntime.h"

void *memcpy(void *to, const void *from, size_t n) {
    char *a = to;
    const char *b = from;
    while (n--) *a++ = *b++;
    return to;
}

void *memset(void *to, int value, size_t n) {
    char *a = to;
    while (n--) *a++ = (char)value;
    return to;
}

#define ESVM_INTEGERS /* all samples have weight 1 */
#include "../edgesvm/esvm.c"
#include "../NAME.c"

static void *bytes_of(mp_obj_t object, size_t n, mp_uint_t flags) {
    mp_buffer_info_t buffer;
    mp_get_buffer_raise(object, &buffer, flags);
    if (buffer.len < n) mp_raise_ValueError(MP_ERROR_TEXT("too short"));
    return buffer.buf;
}

static NAME_t *model_of(mp_obj_t object) {
    return bytes_of(object, sizeof(NAME_t), MP_BUFFER_RW);
}

static const float *row_of(mp_obj_t object) {
    return bytes_of(object, sizeof(float) * UPPER_N_FEATURES, MP_BUFFER_READ);
}

static mp_obj_t begin(mp_obj_t model) {
    NAME_begin(model_of(model));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(begin_obj, begin);

static mp_obj_t learn(mp_obj_t model, mp_obj_t x, mp_obj_t index) {
    return mp_obj_new_int(NAME_learn(model_of(model), row_of(x), mp_obj_get_int(index)));
}
static MP_DEFINE_CONST_FUN_OBJ_3(learn_obj, learn);

static mp_obj_t predict(mp_obj_t model, mp_obj_t x) {
    double score;
    return mp_obj_new_int(NAME_predict(model_of(model), row_of(x), &score));
}
static MP_DEFINE_CONST_FUN_OBJ_2(predict_obj, predict);

static mp_obj_t snapshot(mp_obj_t model) {
    mp_obj_t made = mp_obj_new_bytearray_by_ref(
        UPPER_SNAPSHOT_BYTES, m_malloc(UPPER_SNAPSHOT_BYTES));
    NAME_snapshot_read(
        model_of(model), 0, bytes_of(made, UPPER_SNAPSHOT_BYTES, MP_BUFFER_RW),
        UPPER_SNAPSHOT_BYTES);
    return made;
}
static MP_DEFINE_CONST_FUN_OBJ_1(snapshot_obj, snapshot);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    mp_store_global(MP_QSTR_begin, MP_OBJ_FROM_PTR(&begin_obj));
    mp_store_global(MP_QSTR_learn, MP_OBJ_FROM_PTR(&learn_obj));
    mp_store_global(MP_QSTR_predict, MP_OBJ_FROM_PTR(&predict_obj));
    mp_store_global(MP_QSTR_snapshot, MP_OBJ_FROM_PTR(&snapshot_obj));
    mp_store_global(MP_QSTR_N_BYTES, mp_obj_new_int(sizeof(NAME_t)));
    mp_store_global(MP_QSTR_N_FEATURES, mp_obj_new_int(UPPER_N_FEATURES));
    MP_DYNRUNTIME_INIT_EXIT
}
"""
NATIVE_MAKEFILE = """\
# A native module of MicroPython, whose sources are in MPY_DIR; needs pyelftools and ar of PyPI.
MPY_DIR ?= ../../micropython
MOD = NAME
SRC = NAME_native.c
ARCH ?= armv7m
LINK_RUNTIME = 1
include $(MPY_DIR)/py/dynruntime.mk
"""


def sketch_for(prefix: str, header: str) -> str:
    if f"{prefix}_forecast(" in header:
        return "regress.ino"
    return "watch.ino" if "this model has no labels" in header else "learn.ino"


def native(prefix: str) -> str:
    """What MicroPython's dynruntime.mk makes a module of."""
    return NATIVE.replace("NAME", prefix).replace("UPPER", prefix.upper())


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


def keywords(prefix: str, header: str) -> str:
    """What Arduino's editor colours."""
    kinds = {"KEYWORD1": r"\b%s_(?:t|value)\b", "KEYWORD2": r"\b%s_[a-z_]+(?=\()"}
    lines = [
        f"{word}\t{kind}\n"
        for kind, pattern in kinds.items()
        for word in sorted(set(re.findall(pattern % prefix, header)))
    ]
    constants = re.findall(rf"#define ({prefix.upper()}_\w+)", header)
    return "".join([*lines, *(f"{word}\tLITERAL1\n" for word in constants)])


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

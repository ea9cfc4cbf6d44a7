# Every target sets up what it needs from nothing: a virtual environment, the build, the extras.
PYTHON ?= python3
VENV   ?= .venv
BUILD  ?= build/$(notdir $(VENV))
SETUP  ?=
BIN     = $(abspath $(VENV))/bin
# One thread: figures are comparable, and a small board has little else.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1

SOURCES := $(shell find src \( -name '*.py' -o -name '*.pyx' -o -name '*.pxd' \
             -o -name '*.h' -o -name '*.c' -o -name 'meson.build' \) 2>/dev/null) meson.build meson.options pyproject.toml

.PHONY: help build demo test test-bounds lint conformance bench clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q 'meson-python>=0.17' 'meson>=1.3' ninja 'Cython>=3.1' 'numpy>=2.0' pyserial
	@touch $@

$(VENV)/.built: $(VENV)/.tools $(SOURCES)
	@mkdir -p $(BUILD)
	PATH="$(BIN):$$PATH" $(BIN)/pip install -q --no-build-isolation --no-deps --force-reinstall \
	  -Cbuild-dir=$(BUILD) $(SETUP) .
	@touch $@

$(VENV)/.extra-%: $(VENV)/.tools pyproject.toml
	$(BIN)/python tools/extra.py $* | xargs $(BIN)/pip install -q
	@touch $@

build: $(VENV)/.built  ## build and install into .venv

demo: $(VENV)/.built $(VENV)/.extra-plot  ## the main job on the simulated sensor, under a minute
	$(BIN)/edgesvm demo

test: $(VENV)/.built $(VENV)/.extra-test $(VENV)/.extra-plot  ## the whole test suite
	$(BIN)/pytest -q -m 'not long' $(PYTEST_ARGS)

test-bounds:  ## the same suite on a build that checks every index
	$(MAKE) test VENV=.venv-bounds SETUP=-Csetup-args=-Dbounds_checks=true

lint: $(VENV)/.built $(VENV)/.extra-lint  ## ruff, cython-lint, mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(BIN):$$PATH" cython-lint src tests  # it looks for pycodestyle on the path
	$(BIN)/mypy

conformance: $(VENV)/.built $(VENV)/.extra-test  ## the long runs: every learner, every limit
	$(BIN)/pytest -q -m long $(PYTEST_ARGS)

bench: $(VENV)/.built $(VENV)/.extra-bench  ## speed, accuracy and paper tables; prints figures
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

clean:  ## remove what was built
	rm -rf .venv .venv-bounds build demo-out

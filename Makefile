# Every target sets up what it needs from nothing: a virtual environment, the build, the extras.
PYTHON ?= python3
VENV   ?= .venv
BUILD  ?= build/$(notdir $(VENV))
SETUP  ?=
BIN     = $(abspath $(VENV))/bin
# One thread, as on a small board, so that figures are comparable.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1

# Types of the public names in compiled modules.
STUBS = $(subst /,.,$(patsubst %.pyi,%,$(shell find edgesvm -name '*.pyi')))

# Address and undefined-behaviour checks of the compiled modules. The interpreter has none, hence the preload.
SANITIZE = -Csetup-args=-Db_sanitize=address,undefined -Csetup-args=-Db_lundef=false \
           -Csetup-args=-Dbuildtype=debugoptimized
SANITIZED_TESTS = tests/core tests/link tests/persist tests/learners tests/preprocessing tests/fuzz
# Data races of the compiled modules. Nothing needs to be suppressed.
TSAN     = -Csetup-args=-Db_sanitize=thread -Csetup-args=-Db_lundef=false \
           -Csetup-args=-Dbuildtype=debugoptimized
RACES    = TSAN_OPTIONS=exitcode=66:history_size=4
# The same under clang, with the coverage that libFuzzer needs.
CLANG   ?= $(firstword $(foreach c,clang clang-16 clang-15 clang-14,$(shell command -v $(c))))
FUZZ     = address,fuzzer-no-link
FUZZING  = -Csetup-args=-Dc_args=-fsanitize=$(FUZZ) -Csetup-args=-Dc_link_args=-fsanitize=$(FUZZ) \
           -Csetup-args=-Db_lundef=false -Csetup-args=-Dbuildtype=debugoptimized
FUZZ_SECONDS ?= 60
# One test hits a guard page on purpose: leave its signal alone.
CHECKED  = ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:handle_segv=0 \
           UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc

.PHONY: help build demo test contract test-bounds lint conformance sanitize sanitize-threads fuzz mcu browser arm \
        bench-check tables docs docs-links wheel release matrix clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(VENV)/.tools: pyproject.toml
	@echo 'setting up $(VENV): compilers of Python packages, NumPy'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/extra.py requires | xargs $(BIN)/pip install -q 'pip>=23.1' 'meson>=1.3' ninja pyserial
	@touch $@

# Installed in place: an edited source, compiled or not, is what the next import takes.
$(VENV)/.installed: $(VENV)/.tools
	@mkdir -p $(BUILD)
	PATH="$(BIN):$$PATH" CYTHON=$(BIN)/cython $(BIN)/python tools/progress.py 'building edgesvm' \
	  $(BIN)/pip install -v --no-build-isolation --no-deps -Cbuild-dir=$(BUILD) -Ceditable-verbose=true $(SETUP) -e .
	@touch $@

# Looks for changed sources each time.
$(VENV)/.built: $(VENV)/.installed FORCE
	@$(BIN)/ninja -C $(BUILD) -n | grep -q 'no work to do' || \
	  $(BIN)/python tools/progress.py 'building edgesvm' $(BIN)/ninja -C $(BUILD)
FORCE:

$(VENV)/.extra-%: $(VENV)/.tools pyproject.toml
	@echo 'installing what $* needs'
	$(BIN)/python tools/extra.py $* | xargs $(BIN)/pip install -q
	@touch $@

build: $(VENV)/.built  ## build and install into .venv

demo:  ## a tour on a simulated sensor: two minutes and a half from nothing, half a minute once built
	@test -e $(VENV)/.installed || \
	  echo 'This builds edgesvm first, about two minutes on two cores; the tour takes half a minute.'
	@$(MAKE) --no-print-directory $(VENV)/.built $(VENV)/.extra-plot
	$(BIN)/edgesvm demo

test: $(VENV)/.built $(VENV)/.extra-test $(VENV)/.extra-plot  ## run the test suite
	$(BIN)/pytest -q -m 'not long' -n auto --maxprocesses 4 --dist loadgroup $(PYTEST_ARGS)

contract: $(VENV)/.built $(VENV)/.extra-test  ## build, then run every check of one learner: LEARNER=Adaline
	$(BIN)/pytest -q -m 'not long' -k '$(LEARNER)' tests/conformance $(PYTEST_ARGS)

test-bounds:  ## run it on a build that checks every index
	$(MAKE) test VENV=.venv-bounds SETUP=-Csetup-args=-Dbounds_checks=true

lint: $(VENV)/.built $(VENV)/.extra-lint  ## run ruff, cython-lint, mypy and stubtest
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(BIN):$$PATH" cython-lint edgesvm firmware_sim tests  # it looks for pycodestyle on the path
	$(BIN)/mypy
	$(BIN)/stubtest --mypy-config-file pyproject.toml --ignore-missing-stub --ignore-positional-only --concise $(STUBS)

conformance: $(VENV)/.built $(VENV)/.extra-test $(VENV)/.extra-plot  ## the long checks; each when what it checks has changed
	$(BIN)/python tools/conformance.py $(CONFORMANCE_ARGS)

mcu: $(VENV)/.built $(VENV)/.extra-test  ## exported models here and on emulated boards; needs Debian's compilers and QEMU
	EDGESVM_BOARDS=required $(BIN)/pytest -q -s tests/export tests/core/test_lanes_targets.py $(PYTEST_ARGS)

browser: $(VENV)/.built $(VENV)/.extra-test  ## the page in a browser; needs Debian's chromium and chromium-driver
	EDGESVM_BROWSER=required $(BIN)/pytest -q tests/serve/page/test_browser.py $(PYTEST_ARGS)

sanitize:  ## run tests under the address and undefined-behaviour sanitizers
	$(MAKE) .venv-sanitize/.built .venv-sanitize/.extra-test VENV=.venv-sanitize SETUP='$(SANITIZE)'
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" $(CHECKED) \
	  .venv-sanitize/bin/pytest -q -m 'not long' -p no:cacheprovider $(SANITIZED_TESTS) $(PYTEST_ARGS)

sanitize-threads:  ## run threads and callbacks under the thread sanitizer
	$(MAKE) .venv-tsan/.built .venv-tsan/.extra-test VENV=.venv-tsan SETUP='$(TSAN)'
	LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" $(RACES) \
	  .venv-tsan/bin/pytest -q -m 'not long' -p no:cacheprovider tests/conformance/test_threads.py \
	    -k 'not ctrl_c' $(PYTEST_ARGS)  # their limits in seconds are for a core at full speed

fuzz:  ## fuzz every reader for FUZZ_SECONDS with the address sanitizer (needs clang)
	@if test -z "$(CLANG)"; then echo "fuzz: SKIPPED, no clang here (apt-get install clang libclang-rt-14-dev)"; else \
	  CC="$(CLANG)" $(MAKE) .venv-fuzz/.built .venv-fuzz/.extra-fuzz VENV=.venv-fuzz SETUP='$(FUZZING)' && \
	  LD_PRELOAD="$$(.venv-fuzz/bin/python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so" $(CHECKED) \
	    .venv-fuzz/bin/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS) && \
	  $(MAKE) $(VENV)/.built $(VENV)/.extra-test && \
	  $(BIN)/python tests/fuzz/exported_c.py --seconds $(FUZZ_SECONDS) --clang "$(CLANG)"; fi

# What makes wheels finds its tools; files in them have the time of the last commit.
wheel arm bench-check: export PATH := $(BIN):$(PATH)
wheel arm: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)

arm: $(VENV)/.tools $(VENV)/.extra-wheel  ## cross-compile wheels for ARM and musl and test them under emulation
	$(BIN)/python tools/arm.py $(ARM_ARGS)

wheel: $(VENV)/.tools $(VENV)/.extra-wheel  ## make the release's files in dist/ and check them
	$(BIN)/python tools/wheel.py

release: wheel docs  ## all that is published, in dist/: archive, wheels, documentation, examples, checks
	$(MAKE) arm ARM_ARGS=--needed
	cp build/arm/*/dist/*.whl dist/
	tar -czf dist/edgesvm-docs.tar.gz -C build docs
	git archive --prefix=edgesvm-examples/ -o dist/edgesvm-examples.tar.gz HEAD:examples
	cd dist && sha256sum -- *.* > SHA256SUMS

matrix:  ## build and test with every Python of this machine, an old and a new NumPy
	$(PYTHON) tools/matrix.py $(MATRIX_ARGS)

bench-check: $(VENV)/.built  ## count each learner's instructions and lines of memory; fails where 2 % moved (needs valgrind; for boards, QEMU and `make arm`)
	$(BIN)/python -m benchmarks.instructions $(BENCH_CHECK_ARGS)
	$(BIN)/python -m benchmarks.ledger.boards --check

tables: $(VENV)/.built $(VENV)/.extra-bench  ## measure the tables of benchmarks/results anew (hours; each goes on where it stopped)
	$(BIN)/python -m benchmarks.run $(TABLES_ARGS)

docs: $(VENV)/.built $(VENV)/.extra-docs  ## build the site into build/docs; warnings are errors
	$(BIN)/sphinx-build -q -c docs -W --keep-going . build/docs
	@echo "the site: file://$(abspath build/docs/index.html)"

docs-links: $(VENV)/.built $(VENV)/.extra-docs  ## check the site's links to other sites; needs a network
	$(BIN)/sphinx-build -q -c docs -b linkcheck . build/docs-links

clean:  ## remove what was built
	rm -rf .venv .venv-bounds .venv-sanitize .venv-tsan .venv-fuzz build dist demo-out

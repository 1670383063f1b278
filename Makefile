# make hello   a private environment in .venv, the package in it, and the first programs
# make test    the same, what the tests need, and the test suite (ARGS="-k word": a part)
# make ci      what .ci/run runs: format, layout, warnings of clang, its software device,
#              clang-tidy on the changed files, tests
# make check   the same with clang-tidy on all files, and what takes longer: gcc's warnings
#              for each file alone, sanitizers, coverage
#
# make doc     the chapters in doc/ as pages, in doc/_build/html
# make gallery the outputs and pictures of the examples, which the pages show
# make screenshots  pictures of the pages in a real browser, in build/screenshots
# make dist    the source archive and the wheel, in dist
# make wheels  the wheels for all versions of Python, for x86-64 and aarch64, in dist
# make soak    eight threads doing everything at once (MINUTES=10)
# make clients the tests of Numba, tinygrad, Triton ... on the software device
#
# make notebooks  executes the notebooks of doc/notebooks and keeps their outputs
# make lab     runs them in JupyterLab, in a real browser: pictures in build/screenshots
#
# Others: venv, build, werror, conformance, layout, asan, leaks, tsan, coverage, format,
# fuzz, clean. PYTHON says which Python to use.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
ARGS ?=

C_ROOT := src/cpp_free_c
C_FILES := $(sort $(shell find $(C_ROOT) -name "*.c"))
C_ALL := $(sort $(shell find $(C_ROOT) -name "*.[ch]" -o -name "*.inc"))
C_FORMATTED := $(sort $(shell find $(C_ROOT) -name "*.[ch]") $(wildcard test/c/*.[ch] bench/*.[ch]))
PY_FORMATTED := setup.py doc/conf.py $(wildcard doc/recipes pycuda test tools examples bench)

.PHONY: hello test ci check doc gallery screenshots dist wheels build venv werror conformance \
	layout asan leaks tsan coverage soak clients notebooks lab format fuzz clean \
	werror-gcc werror-clang check-format check-changed check-tidy check-types
.DELETE_ON_ERROR:

# Without nvcc and NVRTC, NVIDIA's wheels of NVRTC and its headers are installed while
# the C files are compiled.
hello: SET_UP_OPTIONS := --compiler
hello: build
	@$(BIN)/python tools/set_up.py hello

test: build $(VENV)/.requires
	$(BIN)/python -m pytest $(ARGS)

# The two differ in what clang-tidy reads, and in what takes hours.
BEFORE_TESTS := check-format layout werror-clang conformance

ci: $(BEFORE_TESTS) check-changed test

check: $(BEFORE_TESTS) check-tidy test werror-gcc asan leaks tsan coverage

# -- the private environment ------------------------------------------------------------

venv: $(VENV)/.requires
build: $(VENV)/.built

# What building and running need. The build then needs no environment of its own.
$(VENV)/.environment: pyproject.toml tools/requires.py
	@$(PYTHON) tools/set_up.py environment
	@touch $@

$(VENV)/.built: $(VENV)/.environment setup.py $(C_ALL)
	@$(BIN)/python tools/set_up.py build $(SET_UP_OPTIONS)
	@touch $@

# What tests and pages need.
$(VENV)/.requires: $(VENV)/.environment
	$(BIN)/python tools/requires.py test doc > $(VENV)/requires.txt
	$(PIP) install -r $(VENV)/requires.txt
	@touch $@

$(VENV)/.check: $(VENV)/.requires
	$(BIN)/python tools/requires.py check > $(VENV)/requires.txt
	$(PIP) install -r $(VENV)/requires.txt
	@touch $@

# -- what a change must pass ------------------------------------------------------------

# $(call need,command,package): stop with a sentence if a command is missing.
need = command -v $(1) > /dev/null || \
	{ echo "$(1) is missing: install the package $(2) of your system"; exit 1; }

INCLUDES = $(shell $(BIN)/python -c 'import numpy, sysconfig; \
	print("-isystem", sysconfig.get_paths()["include"], "-isystem", numpy.get_include())')

check-format: $(VENV)/.check
	@echo "clang-format: $(words $(C_FORMATTED)) files"
	@$(BIN)/clang-format --dry-run -Werror $(C_FORMATTED)
	$(BIN)/ruff format --check $(PY_FORMATTED)
	$(BIN)/ruff check $(PY_FORMATTED)

layout: $(VENV)/.requires
	$(BIN)/python tools/check_layout.py

# The extension as it ships, each file alone, but with every warning an error.
werror: werror-gcc werror-clang

werror-gcc werror-clang: werror-%: $(VENV)/.requires
	@$(call need,$*,$*)
	CC=$* CFLAGS="-Werror" $(BIN)/python setup.py -q build_ext --force --separately \
		--build-temp build/werror-$*/temp --build-lib build/werror-$*/lib

# The software device as clang builds it gives the results that a GPU gave, too.
conformance: build werror-clang
	$(BIN)/python tools/instrumented.py build/werror-clang/lib \
		test/device/test_conformance.py

# A process reads a few files, about a second each: a merge can change hundreds.
TIDY = printf '%s\n' $(1) | xargs -P $$(nproc) -n 4 sh -c 'clang-tidy --quiet "$$@" -- \
	-std=c11 -pthread -I $(C_ROOT) $(INCLUDES) \
	-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION' clang-tidy

check-tidy: $(VENV)/.requires
	@$(call need,clang-tidy,clang-tidy)
	@$(call TIDY,$(C_FILES))

# The C files that changed since a commit, by default since the one before. After a merge
# these are all files that the merged branch changed.
SINCE ?= HEAD~1
CHANGED = $(filter $(C_FILES),$(shell git diff --name-only $(SINCE) 2> /dev/null))
check-changed: $(VENV)/.requires
	@$(call need,clang-tidy,clang-tidy)
	@git rev-parse -q --verify $(SINCE)^{commit} > /dev/null || \
		{ echo "git has no commit $(SINCE): fetch it, or name another in SINCE"; exit 1; }
	@echo "clang-tidy: $(words $(CHANGED)) files changed since $(SINCE)"
	$(if $(CHANGED),@$(call TIDY,$(CHANGED)))

# The tests of types alone; `make test` runs them too.
check-types: build $(VENV)/.requires
	$(BIN)/python -m pytest -q test/typing

# The C under sanitizers: the tests, those that look for leaks, the threads of the
# software device. Which tests, and why those, is said in tools/sanitize.py.
asan leaks tsan: $(VENV)/.requires
	@$(call need,gcc,gcc)
	$(BIN)/python tools/sanitize.py $@ $(if $(filter tsan,$@),,$(ARGS))

# The lines of C that no test runs: the bounds are in tools/coverage.py.
coverage: $(VENV)/.requires
	@$(call need,gcc,gcc)
	$(BIN)/python tools/coverage.py $(ARGS)

# -- the pages --------------------------------------------------------------------------

doc: build $(VENV)/.requires
	$(BIN)/python -m sphinx -q -W --keep-going -b html doc doc/_build/html
	@echo "doc/_build/html/index.html"

# ARGS="mandelbrot.py" records one program.
gallery: build
	$(BIN)/python tools/record_examples.py $(ARGS)

$(VENV)/.screenshots: $(VENV)/.requires
	$(BIN)/python tools/requires.py screenshots > $(VENV)/requires.txt
	$(PIP) install -r $(VENV)/requires.txt
	@touch $@

# Fails if a page is wider than a phone, or if something on it is missing.
screenshots: doc $(VENV)/.screenshots
	$(BIN)/python tools/screenshots.py $(ARGS)

# The outputs are those of the software device. ARGS="--check" compares them.
notebooks: build
	$(BIN)/python tools/notebooks.py $(ARGS)

$(VENV)/.lab: $(VENV)/.requires
	$(BIN)/python tools/requires.py lab > $(VENV)/requires.txt
	$(PIP) install -r $(VENV)/requires.txt
	@touch $@

lab: build $(VENV)/.lab
	$(BIN)/python tools/lab.py $(ARGS)

# -- what is handed out -----------------------------------------------------------------

$(VENV)/.dist: $(VENV)/.requires
	$(BIN)/python tools/requires.py dist > $(VENV)/requires.txt
	$(PIP) install -r $(VENV)/requires.txt
	@touch $@

# auditwheel names the oldest glibc that the wheel runs with, and refuses one that needs
# more than the C library.
dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist/plain .
	mv dist/plain/*.tar.gz dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist \
		dist/plain/*.whl
	rm -rf dist/plain
	@ls dist

$(VENV)/.wheels: $(VENV)/.requires
	$(BIN)/python tools/requires.py wheels > $(VENV)/requires.txt
	$(PIP) install -r $(VENV)/requires.txt
	@touch $@

# ARGS="--python 3.11 --machine aarch64" for some. .ci/wheels fetches what else is needed.
wheels: $(VENV)/.wheels
	$(BIN)/python tools/wheels.py $(ARGS)

# -- others -----------------------------------------------------------------------------

format: $(VENV)/.check
	$(BIN)/clang-format -i $(C_FORMATTED)
	$(BIN)/ruff format $(PY_FORMATTED)
	$(BIN)/ruff check --fix $(PY_FORMATTED)

# RUNS malformed texts for the PTX loader, under sanitizers; needs clang or gcc.
RUNS ?= 1000000
fuzz:
	$(PYTHON) tools/fuzz_ptx.py $(RUNS)

# Minutes of eight threads on the device that there is; fails if anything grows.
MINUTES ?= 10
soak: build $(VENV)/.requires
	$(BIN)/python test/package/soak.py --minutes $(MINUTES)

# The tests of other programs, compared with an H200 (CLIENTS="numba triton" for some).
CLIENTS ?=
clients: build $(VENV)/.requires
	$(BIN)/python tools/clients.py $(CLIENTS)

# Everything that the other targets made, the private environment included.
clean:
	rm -rf $(VENV) build dist doc/_build doc/generated *.egg-info pycuda/*.so .pytest_cache .ruff_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

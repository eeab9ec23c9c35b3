# Few verbs. `make help` lists them. The virtual environment is made on first use.

PYTHON ?= python3
PORT   ?= 8888
BIN    := .venv/bin
ROOT_USER := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)
HEADLESS  := $(shell [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ] || echo --no-browser)

export OMP_NUM_THREADS ?= 2
export TOKENIZERS_PARALLELISM ?= false

help:                 ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 14

lab: .venv/course lessons   ## JupyterLab on the first lesson
	@$(BIN)/jupyter lab $(HEADLESS) $(ROOT_USER) --port=$(PORT) \
	  --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url="/lab/tree/$(firstword $(sort $(wildcard lessons/*/*.ipynb)))"

test: .venv/dev       ## the everyday suite, in under ten minutes, no GPU, display or network
	$(BIN)/python -m pytest -m "not slow and not deep and not browser and not gpu"

test-all: test lint slow browser book   ## what is slow as well: every lesson, the browser, the book

slow: .venv/dev
	$(BIN)/python -m pytest -m "slow and not browser and not deep"

deep: .venv/dev       ## hours: 300 seeds of every check, 10,000 inputs of every reader; not part of test-all
	$(BIN)/python -m pytest -m deep

browser: .venv/dev
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then \
	  $(BIN)/python -m pytest -m browser; \
	else echo "SKIPPED, LOUDLY: the browser suite needs chromium (Debian: apt-get install chromium)"; fi

lint: .venv/dev       ## format, style, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lessons: .venv/course ## solutions/*.md -> notebooks for teachers and students
	@$(BIN)/python -m batchlab.authoring.sources

book: .venv/dev       ## the readable course; warnings are errors
	@$(BIN)/python -m batchlab.authoring.matrix --page --reuse _build/outcomes > book/matrix.md
	BATCHLAB_BOOK=1 BATCHLAB_CACHE=$(CURDIR)/_build/.guesses \
	  $(BIN)/jupyter-book build . --config book/_config.yml --toc book/_toc.yml -n -W --keep-going

bench: .venv/dev      ## side-by-side measurements against peers
	$(BIN)/python benchmarks/packing.py

gpu-test: .venv/dev   ## the proofs that need a CUDA device
	$(BIN)/python -m pytest -m gpu tests/gpu

gpu-run:              ## prints the command that measures on a lent GPU, without pip and network
	@echo 'PYTHONPATH=$$PWD python3 -m pytest -m gpu tests/gpu -W default && PYTHONPATH=$$PWD python3 benchmarks/gpu_run.py --output runs --seconds 300'

gpu-records: .venv/dev  ## the sweep and the memory table that lessons replay, on this device
	PYTHONPATH=$(CURDIR) $(BIN)/python benchmarks/gpu_records.py --output runs

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is too old: Python 3.11 or newer is needed (make lab PYTHON=python3.12)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "the venv module is missing (Debian, Ubuntu: apt-get install python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv

# torch first and by its exact version: a range could pull a newer build with gigabytes beside it
.venv/course: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check $$(grep '^torch==' constraints.txt)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[course]'
	@touch $@

.venv/dev: .venv/course
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[book,dev]'
	@touch $@

.PHONY: help lab test test-all slow deep browser lint lessons book bench gpu-test gpu-run gpu-records

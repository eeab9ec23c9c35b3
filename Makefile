# Few verbs. `make help` lists them. The virtual environment is made on first use.

PYTHON ?= python3
PORT   ?= 8888
BIN    := .venv/bin
AXE    := tests/browser/node_modules/axe-core/axe.min.js
ROOT_USER := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)
HEADLESS  := $(shell [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ] || echo --no-browser)

# two tests at a time (up to four), each on one thread: threads would only wait for each other
SPREAD    := -n auto --maxprocesses 4 --dist worksteal

export OMP_NUM_THREADS ?= 2
test quick lesson: OMP_NUM_THREADS = 1
export TOKENIZERS_PARALLELISM ?= false
unexport PYTHONDONTWRITEBYTECODE  # hundreds of short processes would compile the library each, and pytest its tests

help:                 ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 14

lab: .venv/course lessons   ## JupyterLab on the first lesson
	@$(BIN)/jupyter lab $(HEADLESS) $(ROOT_USER) --port=$(PORT) --LabApp.app_settings_dir="$(CURDIR)/.lab" \
	  --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url="/lab/tree/$(firstword $(sort $(wildcard lessons/*/*.ipynb)))"

test: .venv/dev lessons       ## the everyday suite, in minutes on two cores; no GPU, display or network
	$(BIN)/python -m pytest $(SPREAD) -m "not slow and not deep and not browser and not gpu"

quick: .venv/dev lessons      ## a minute: lint, and the tests that run what changed since main, nearest first
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m batchlab.authoring.quick

lesson: .venv/dev     ## NAME=padding: its notebooks, checks and page
	@$(BIN)/python -m batchlab.authoring.lesson $(NAME)

test-all: test lint slow book browser   ## what is slow as well: every lesson, the browser, the book

slow: slow-lessons slow-seeds slow-outside slow-kills slow-rest

# the pages, one after the other, are the longest way: the rest runs where they leave a core
ci: .venv/dev lessons
	@$(MAKE) ci-pages & pages=$$!; nice -n 10 $(MAKE) -j2 ci-beside; rest=$$?; wait $$pages && exit $$rest

ci-beside: slow-kills slow-rest test slow-seeds slow-outside lint

ci-pages: .venv/dev lessons      # one after the other: the book shows what the wrong answers were told
	@$(MAKE) --no-print-directory -j1 slow-lessons
	@$(MAKE) --no-print-directory -j1 book
	@$(MAKE) --no-print-directory -j1 browser

slow-lessons: .venv/dev lessons  # every blank lesson, with every known answer; solutions run in the book
	$(BIN)/python -m pytest -m "slow and not browser and not deep" tests/test_lessons.py -k "not test_no_seed"

slow-seeds: .venv/dev lessons    # every check of every sixth lesson on ten seeds
	$(BIN)/python -m pytest -m "slow and not browser and not deep" tests/test_lessons.py -k test_no_seed

slow-outside: .venv/dev lessons    # a thirty-second of all known answers, judged outside the student's process
	$(BIN)/python -m pytest -m "slow and not browser and not deep" tests/test_grading_outside.py

# trainings of several processes that are killed, frozen and begun again
KILLS := $(sort $(wildcard tests/test_chaos*.py tests/test_train*.py tests/test_fit*.py tests/test_sweep.py tests/test_*world.py))

slow-kills: .venv/dev lessons
	$(BIN)/python -m pytest -m "slow and not browser and not deep" $(KILLS)

slow-rest: .venv/dev lessons
	$(BIN)/python -m pytest -m "slow and not browser and not deep" \
	  --ignore tests/test_lessons.py --ignore tests/test_grading_outside.py $(KILLS:%=--ignore %)

deep: .venv/dev lessons       ## hours: 300 seeds of every check, 10,000 inputs of every reader; not part of test-all
	$(BIN)/python -m pytest -m deep

# what the oldest versions are asked: the doors that stand on them. GPT-2 of transformers 5.0 hands its attention
# no borders and is refused, its rotary positions cannot run without a device, its configs check no types. torch 2.8
# refuses norms under FSDP2, and has no flash kernel for grouped heads on a CPU
OLDEST := attention attention_edges batches batches_edges cli collator compare_splits counts data data_documents data_edges \
  data_files exact fit loader loader_edges loop loop_edges loop_mistakes loop_observed memory memory_errors memory_verbs model \
  model_edges monitor monitor_guard monitor_signals monitor_stacks norms norms_world packing packing_shards packing_stream reading \
  serving stacks trace train train_checkpoints train_folder training your_stack
UNLIKE := gpt2 or waits_for_no_device or makes_no_model or under_fsdp2 or grouped_heads_in_float32

test-oldest: lessons  ## TORCH=2.8.0 TRANSFORMERS=5.0.0: the doors that stand on them; on Linux that torch brings gigabytes, so CI does not
	@test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check torch==$(or $(TORCH),2.8.0) \
	  transformers==$(or $(TRANSFORMERS),5.0.0) -e '.[course]' 'pytest>=8' 'pytest-xdist>=3.6' 'hypothesis>=6' 'scipy>=1.13' \
	  'peft>=0.18' 'trl>=1' 'pyyaml>=6' 'tensorboard>=2.18'
	.venv-oldest/bin/python -m pytest $(SPREAD) -m "not slow and not deep and not browser and not gpu" -k "not ($(UNLIKE))" \
	  $(OLDEST:%=tests/test_%.py)

browser: .venv/dev lessons
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then \
	  $(MAKE) --no-print-directory _build/html/index.html && \
	  { $(MAKE) --no-print-directory $(AXE) || \
	    echo "SKIPPED, LOUDLY: the tests of accessibility need axe-core, which npm could not fetch"; } && \
	  $(BIN)/python -m pytest -n 2 --dist loadfile -m browser -rs; \
	else echo "SKIPPED, LOUDLY: the browser suite needs chromium (Debian: apt-get install chromium)"; fi

_build/html/index.html:
	@$(MAKE) --no-print-directory book

$(AXE): tests/browser/package-lock.json
	cd tests/browser && npm ci --silent --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000
	@touch $@

lint: .venv/dev       ## format, style, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lessons: .venv/course ## solutions/*.md -> notebooks for teachers and students
	@$(BIN)/python -m batchlab.authoring.sources

book: .venv/dev lessons       ## the readable course; warnings are errors
	@mkdir -p _build
	@$(BIN)/python -m batchlab.authoring.matrix --pages _build/matrix --keep _build/outcomes --reuse _build/outcomes
	@$(BIN)/python -m batchlab.authoring.live _build/live
	@$(BIN)/python -m batchlab.authoring.pages _build/pages --matrix _build/matrix
	BATCHLAB_BOOK=1 BATCHLAB_CACHE=$(CURDIR)/_build/.guesses \
	  $(BIN)/jupyter-book build _build/pages --path-output . -n -W --keep-going

dist: .venv/course lessons  ## a wheel, and a zip for each lesson that works without any address
	@$(BIN)/python -m batchlab.authoring.parcels dist

bench: .venv/dev      ## side-by-side measurements against peers
	$(BIN)/python benchmarks/packing.py

gpu-test: .venv/dev lessons   ## the proofs that need a CUDA device
	$(BIN)/python -m pytest -m gpu tests/gpu

gpu-run:              ## prints the command that measures on a lent GPU, without pip and network
	@echo 'export PYTHONPATH=$$PWD BATCHLAB_COMMIT=$(shell git describe --always --dirty); python3 -m pytest -m gpu tests/gpu -W default; python3 benchmarks/gpu_run.py --output $${OUT:-runs} --seconds 380'

gpu-records: .venv/dev  ## the sweep and the memory table that lessons replay, on this device
	PYTHONPATH=$(CURDIR) $(BIN)/python benchmarks/gpu_run.py --output runs --only device peaks sweeps

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

.PHONY: help lab test quick lesson test-all test-oldest slow slow-lessons slow-seeds slow-outside slow-rest ci ci-pages deep browser lint lessons book dist bench gpu-test gpu-run gpu-records

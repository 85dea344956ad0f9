# Two commands do everything on a machine with Python 3.11, make and gcc: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
export YOLO_OFFLINE := true

.PHONY: help demo test unit lint types golden bench train sim mutants soak fuzz clean

help:            ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null && $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.installed
	$(PIP) install -e ".[dev,train]"
	@touch $@

demo: $(VENV)/.installed   ## analyse the sample match and say where its report is
	@rm -rf demo && mkdir -p demo
	$(BIN)/vision-referee analyze sample_videos/break_and_pot.mp4 --rules american --officials sample_videos/break_and_pot.officials.jsonl --table pyramid-12ft --out demo/match
	@echo "The report is at $(CURDIR)/demo/match/report.html"

test: $(VENV)/.installed-dev   ## install and run all the tests
	-@$(MAKE) --no-print-directory sim
	$(BIN)/ruff check vision_referee tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

unit: $(VENV)/.installed-dev   ## the quick tests only
	$(BIN)/python -m pytest tests/unit tests/scenarios -q

lint: $(VENV)/.installed-dev   ## style and layering
	$(BIN)/ruff check vision_referee tests benchmarks && $(BIN)/lint-imports

types: $(VENV)/.installed-dev   ## mypy, strict
	$(BIN)/mypy

sim: $(VENV)/.installed-sim   ## what the physics simulation needs

$(VENV)/.installed-sim: pyproject.toml $(VENV)/.installed
	$(PIP) install -e ".[sim]"
	$(PIP) install --no-deps "pooltool-billiards==0.6.0"
	@touch $@

bench: $(VENV)/.installed-dev sim   ## speed and accuracy, for benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

mutants: $(VENV)/.installed-dev   ## mutation testing of the rules
	$(BIN)/python benchmarks/mutants.py

soak: $(VENV)/.installed-dev   ## the long tests: twenty kills, a Ray cluster (half an hour)
	$(PIP) install -e ".[dev,cluster]"
	$(BIN)/python -m pytest -m soak tests

FUZZ_MINUTES ?= 10
fuzz: $(VENV)/.installed-dev   ## damaged videos and near-miss lines for ten minutes (FUZZ_MINUTES)
	$(BIN)/python tests/fuzz/fuzz.py $(FUZZ_MINUTES)

train: $(VENV)/.installed-dev   ## train the detector from rendered scenes (hours on two cores; resumes)
	$(BIN)/vision-referee train

clean:           ## remove what the other targets made
	rm -rf $(VENV) demo runs build dist

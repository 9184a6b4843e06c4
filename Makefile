# Every target sets itself up from nothing: .venv is made and filled on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export HF_HUB_OFFLINE := 1

.PHONY: demo test check bench dev schema format clean

demo: $(VENV)/.core
	$(BIN)/unhorse demo

# Two workers of one thread each are faster than one of two, whose threads wait for each other.
test: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.all
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/demo_seeds.py --fresh

dev: $(VENV)/.all

schema: $(VENV)/.core
	$(BIN)/python -c "from unhorse.report.schema import json_schema; print(json_schema(), end='')" > src/unhorse/report/report.schema.json
	$(BIN)/python -c "from unhorse.report.removal import removal_schema; print(removal_schema(), end='')" > src/unhorse/report/removal.schema.json

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

# torch comes first and by its exact version: resolved together with the others,
# pip may prefer a build with gigabytes of GPU packages.
$(VENV)/.torch: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "$$(grep '^torch==' constraints.txt)" -c constraints.txt
	touch $@

$(VENV)/.core: $(VENV)/.torch pyproject.toml
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $@

$(VENV)/.all: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev,zoo,datasets,figures]"
	touch $@

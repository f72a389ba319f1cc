# Everything a contributor runs. `make` alone lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

SHELL         := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-unit test-spark test-kafka test-cluster check parity bench docs dist format packages

help: ## List the targets
	@$(PYTHON) -c "import re; [print(f'  make {t:<11} {d}') for t, d in re.findall(r'^([a-z-]+)[ :].*?## (.*)$$', open('Makefile').read(), re.M)]"

setup: $(VENV)/.installed ## Make .venv and install Penstock into it

setup-dev: $(VENV)/.installed-dev ## The same with the tools for tests and checks

demo: $(VENV)/.installed ## Kafka, a worker and a pipeline, live (ARGS=--exit: end after 10,000 records)
	@$(BIN)/penstock demo $(ARGS)

# Most tests wait for servers, so two processes take little more than half the time of one. Each has
# servers of its own. With the files that have the most tests first, as is xdist's rule, one process
# would be left alone with slow ones in the end.
test: $(VENV)/.installed-dev packages ## The whole test suite (ARGS="tests/unit -k name" for a part)
	@$(BIN)/python -m pytest $(or $(ARGS),-n 2 --dist loadfile --no-loadscope-reorder)

test-unit test-spark test-kafka test-cluster: test-%: $(VENV)/.installed-dev packages ## One level of the tests
	@$(BIN)/python -m pytest tests/$* $(ARGS)

check: $(VENV)/.installed-dev ## Lint, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

parity: $(VENV)/.installed-dev packages ## All cases, and generated records, through Kafka's transformations and ours (ARGS="--cases 20000 --seed 1 --only Cast")
	@PENSTOCK_ALL_CASES=1 $(BIN)/python -m pytest -q tests/spark/transforms/test_parity.py
	@$(BIN)/python -m tests.spark.transforms.generated.parity $(ARGS)

bench: $(VENV)/.installed-dev ## The benchmark, against the real Kafka Connect where it has a counterpart
	@$(BIN)/python -m bench $(ARGS)

dist: $(VENV)/.installed-dev ## Build the wheel, into dist
	@$(BIN)/python -m hatchling build --target wheel

docs: $(VENV)/.installed-dev ## Write the pages that are generated from the configuration declarations
	@$(BIN)/python -m penstock.docs $(ARGS)

packages:
	@$(BIN)/python tests/packages.py

# An install is repeated only when what it installs has changed.
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Penstock into $(VENV)"
	@$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Penstock and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Penstock needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

# Everything a contributor runs. `make` alone lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

SHELL         := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-quick test-unit test-spark test-kafka test-cluster proofs check parity bench docs dist format packages

help: ## List the targets
	@$(PYTHON) -c "import re; [print(f'  make {t:<11} {d}') for t, d in re.findall(r'^([a-z-]+)[ :].*?## (.*)$$', open('Makefile').read(), re.M)]"

setup: $(VENV)/.installed ## Make .venv and install Penstock into it

setup-dev: $(VENV)/.installed-dev ## The same with the tools for tests and checks

demo: $(VENV)/.installed ## Kafka, a worker and a pipeline, live (ARGS=--exit: end after 10,000 records)
	@$(BIN)/penstock demo $(ARGS)

# Most tests wait for servers, which all processes share: docs/testing.md tells how they are spread.
# The order is that of tests/conftest.py, not xdist's: what takes longest comes first.
TOGETHER := --dist loadgroup --no-loadscope-reorder

# Every process of a run would compile the same modules again if none of them kept what it compiled.
test test-quick test-unit test-spark test-kafka test-cluster proofs parity: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.installed-dev packages ## The whole test suite (ARGS="tests/unit -k name" for a part)
	@$(BIN)/python -m pytest $(or $(ARGS),-n 4 $(TOGETHER))

test-quick: $(VENV)/.installed-dev packages ## Unit tests, and one thin path through everything
	@$(BIN)/python -m pytest tests/unit tests/cluster/test_thin_path.py -n 3 $(TOGETHER) $(ARGS)

test-unit test-spark test-kafka test-cluster: test-%: $(VENV)/.installed-dev packages ## One level of the tests
	@$(BIN)/python -m pytest tests/$* $(ARGS)

proofs: $(VENV)/.installed-dev packages ## What takes long because it proves something: kills, outages and large data at full size
	@$(BIN)/python -m pytest $(or $(ARGS),tests/proofs -n 2 $(TOGETHER))

check: $(VENV)/.installed-dev ## Lint, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

parity: $(VENV)/.installed-dev packages ## All cases, and generated records, through Kafka's transformations and ours (ARGS="--cases 20000 --seed 1 --only Cast")
	@$(BIN)/python -m pytest -q tests/proofs/test_transforms.py -k cases
	@$(BIN)/python -m tests.spark.transforms.generated.parity $(ARGS)

bench: $(VENV)/.installed-dev ## The benchmark, against the real Kafka Connect where it has a counterpart
	@$(BIN)/python -m bench $(ARGS)

dist: $(VENV)/.installed-dev ## Build the wheel, into dist
	@$(BIN)/python -m hatchling build --target wheel

docs: $(VENV)/.installed-dev ## Write the pages that are generated from the configuration declarations
	@$(BIN)/python -m penstock.docs $(ARGS)

# Tests start dozens of JVMs: the archives of their classes, made once, save minutes.
packages:
	@$(BIN)/python tests/packages.py
	@$(BIN)/penstock prepare || echo "Starts of Java will be slower"

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

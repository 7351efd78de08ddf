# Two commands do everything: `make run` and `make test`. `make` alone lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUNTIME_STAMP := $(VENV)/.runtime-installed
DEV_STAMP     := $(VENV)/.dev-installed
# Tests wait more than they compute. Each of the processes starts the brokers that its files need.
JOBS          ?= 3
PIP_INSTALL   := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup run demo test check bench clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV_STAMP)  ## install all that development and tests need, into .venv

run: $(RUNTIME_STAMP)  ## start the gateway with an embedded channel, broker and demo traffic (Ctrl-C ends it)
	@$(BIN)/isthmus demo

demo: $(RUNTIME_STAMP)  ## the same for twenty alarms, then the accounts, then end
	@$(BIN)/isthmus demo --count 20

test: $(DEV_STAMP)  ## run the whole test suite, JOBS=3 files at a time
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

check: $(DEV_STAMP)  ## style, types, layers, Dockerfile: ruff, mypy --strict, import-linter, hadolint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/hadolint Dockerfile

bench: $(DEV_STAMP)  ## measure against raw ceilings in the same run; ONLY=name runs one
	@$(BIN)/python -m tests.bench $(if $(ONLY),--only $(ONLY))

clean:  ## remove .venv, caches and everything that was built
	rm -rf $(VENV) build run *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Isthmus needs Python 3.11 or newer; name one with: make PYTHON=python3.11 …" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "this Python cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }

$(RUNTIME_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what running needs into $(VENV) …"
	@$(PIP_INSTALL) -e '.[run]'
	@touch $@

$(DEV_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what development needs into $(VENV) …"
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $@ $(RUNTIME_STAMP)

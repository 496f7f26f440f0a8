# Needs make and Python 3.11, 3.12 or 3.13; everything else is installed into .venv.
# `make PYTHON=/path/to/python3.12 ...` chooses the interpreter that .venv is made with.

PYTHON ?= python3
UV_VERSION := 0.13.7
PORT ?= 8080

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
STAMP := $(VENV)/.installed
PEERS_STAMP := $(VENV)/.installed-peers
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--no-annotate --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help install run test test-fast lint format bench pictures peers lock clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

install: $(STAMP)  ## Install the project and its tools into .venv

run: $(STAMP)  ## The live simulator: a gallery of scenes in the browser (PORT=8080)
	@mkdir -p out
	$(BIN)/linkwork view --folder out --port $(PORT)

test: lint  ## All checks and all tests
	$(BIN)/pytest -n 2 --dist worksteal

test-fast: $(STAMP)  ## The tests that take little time
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

lint: $(STAMP)  ## Style, types and contracts between modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(STAMP)  ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(STAMP)  ## Measure the speed on trees of bodies
	$(BIN)/python -m benchmarks tree

pictures: $(STAMP)  ## Make the pictures of the gallery, the README and the docs anew (needs Chromium)
	$(BIN)/python docs/make_pictures.py

peers: $(PEERS_STAMP)  ## Install the other engines that the cross-checks compare with

lock: $(UV)  ## Resolve all versions anew and write the lock files
	$(COMPILE) --upgrade --extra dev -o requirements-dev.lock pyproject.toml
	$(COMPILE) --upgrade --extra peers -c requirements-dev.lock -o requirements-peers.lock pyproject.toml

clean:  ## Remove results, builds and caches of tools (not .venv)
	rm -rf out build dist htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml requirements-dev.lock | $(UV)
	$(UV) pip install --compile-bytecode --python $(BIN)/python -r requirements-dev.lock
	$(UV) pip install --python $(BIN)/python --no-deps -e .
	@touch $@

$(PEERS_STAMP): requirements-peers.lock $(STAMP)
	$(UV) pip install --compile-bytecode --python $(BIN)/python -r requirements-peers.lock
	@touch $@

# The first of $(PYTHON) and, unless it was chosen by hand, the usual names that is of a fitting version.
CANDIDATES := $(PYTHON)
ifeq ($(origin PYTHON),file)
CANDIDATES += python3.13 python3.12 python3.11
endif

$(UV):
	@for python in $(CANDIDATES); do \
		if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
		then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "error: Linkwork needs Python 3.11, 3.12 or 3.13; tried: $(CANDIDATES)." >&2; \
		echo "       Name one: make PYTHON=/path/to/python3.12 <target>" >&2; \
		exit 1; \
	fi; \
	echo "$$found -m venv $(VENV)"; \
	"$$found" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# `make ask` installs and answers a first question, `make test` installs and runs the tests; `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
PIP_FLAGS ?=
Q ?= why do cats sleep all day?
SECONDS ?= 600
JOBS ?= auto
PYTEST_FLAGS ?=
export Q
# Compiled once, tests and the processes they start load twice as fast.
unexport PYTHONDONTWRITEBYTECODE

PIP = $(VENV)/bin/python -m pip install --disable-pip-version-check --quiet -c constraints.txt $(PIP_FLAGS)
PYTEST = $(VENV)/bin/python -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal $(PYTEST_FLAGS)

.PHONY: help ask test test-all fuzz lint format clean
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

ask: $(VENV)/.ask ## Install, then answer a question: make ask Q="why do cats sleep all day?"
	@$(VENV)/bin/qa-bot ask "$$Q"

test: $(VENV)/.test lint ## Install, check the code, run the tests except slow, browser and PostgreSQL ones.
	$(PYTEST) -m "not slow and not browser and not postgres"

test-all: $(VENV)/.test lint ## Install, check the code, run every test.
	$(PYTEST)

fuzz: $(VENV)/.test ## Run the property tests on random examples until one fails or SECONDS (600) have passed.
	@end=$$(($$(date +%s) + $(SECONDS))); while [ "$$(date +%s)" -lt "$$end" ]; do \
		$(PYTEST) -m "hypothesis and not slow" --hypothesis-profile fuzz || exit 1; done

lint: $(VENV)/.test ## Check style, types and imports.
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/.test ## Sort imports and format the code.
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Expected Python 3.11 or newer as PYTHON, but got $$($(PYTHON) --version 2>&1)." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ask: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing qa-bot into $(VENV) (a few minutes, once)…" >&2
	$(PIP) -e .
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing qa-bot and its development tools into $(VENV) (a few minutes, once)…" >&2
	$(PIP) -e '.[dev,fast,minilm,ocr,otel,plots,postgres]'
	@touch $@ $(VENV)/.ask

clean: ## Remove the virtual environment, builds and caches.
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

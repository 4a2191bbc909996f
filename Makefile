# Two commands do all: `make ask` answers a first question, `make test` runs the whole suite.
PYTHON ?= python3
VENV ?= .venv
PIP_FLAGS ?=
Q ?= why do cats sleep all day?
export Q

PIP = $(VENV)/bin/python -m pip install --disable-pip-version-check --quiet -c constraints.txt $(PIP_FLAGS)

.PHONY: ask test lint clean
ask: $(VENV)/.ask
	@$(VENV)/bin/qa-bot ask "$$Q"

test: $(VENV)/.test lint
	$(VENV)/bin/python -m pytest

lint: $(VENV)/.test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

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
	$(PIP) -e '.[dev,fast,minilm,plots,postgres]'
	@touch $@ $(VENV)/.ask

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

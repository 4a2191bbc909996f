# `make ask` installs and answers a first question, `make test` installs and runs the tests; `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
PIP_FLAGS ?=
Q ?= why do cats sleep all day?
SECONDS ?= 600
# One more than cores: tests also wait for disks, servers and other processes.
JOBS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
PYTEST_FLAGS ?=
# Where tests write thousands of homes: in memory if there is enough, else (or with `SCRATCH=`) in the folder for temporary files.
SCRATCH ?= $(shell $(PYTHON) -c 'import os, shutil; m = "/dev/shm"; os.access(m, os.W_OK) and print(\
	m if shutil.disk_usage(m).free > 8e9 and not os.statvfs(m).f_flag & os.ST_NOEXEC else "")' 2>/dev/null)
FAULTS ?=
export Q
# Compiled once, tests and the processes they start load twice as fast.
unexport PYTHONDONTWRITEBYTECODE

PIP = $(VENV)/bin/python -m pip install --disable-pip-version-check --quiet $(PIP_FLAGS)
# Packages are installed by the hashes of the lock files; `SELF` then only adds qa-bot.
TORCH = $$($(PIP) --dry-run --no-deps --require-hashes -r requirements-cpu.lock >/dev/null 2>&1 \
	&& echo requirements-cpu.lock || echo requirements-torch.lock)
LOCKED = $(PIP) --require-hashes -r $(TORCH) -r requirements.lock
SELF = $(PIP) --no-build-isolation -c constraints.txt
PYTEST = $(if $(SCRATCH),TMPDIR=$(SCRATCH)) $(VENV)/bin/python -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal $(PYTEST_FLAGS)

.PHONY: help ask test test-all every-test fuzz faults soak lint format clean lock release corruption
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

ask: $(VENV)/.ask ## Install, then answer a question: make ask Q="why do cats sleep all day?"
	@$(VENV)/bin/qa-bot ask "$$Q"

test: $(VENV)/.test lint ## Install, check the code, run the tests except slow, browser and PostgreSQL ones.
	$(PYTEST) -m "not slow and not browser and not postgres"

test-all: $(VENV)/.test ## Install, check the code, run every test, both at once.
	@$(MAKE) --no-print-directory --jobs 2 lint every-test

every-test: $(VENV)/.test
	$(PYTEST)

fuzz: $(VENV)/.test ## Run random and broken inputs through every parser for SECONDS (600), then the property tests at random.
	$(VENV)/bin/python -m tests.fuzzing --seconds $(SECONDS)
	$(PYTEST) -m "hypothesis and not slow" --hypothesis-profile fuzz

faults: $(VENV)/.test ## Fail the disk and cut the power at every write point of every operation (hours; it goes on with faults.jsonl; FAULTS=…).
	$(VENV)/bin/python -m tests.faults.sweep --json faults.jsonl --resume $(FAULTS)

soak: $(VENV)/.test ## Run a service under mixed use for SECONDS (600) and print the slope of its memory.
	$(VENV)/bin/python benchmarks/soak.py --seconds $(SECONDS) --out soak.json --plot soak.png

corruption: $(VENV)/.test ## Damage 200 homes at random and mend them; about 20 minutes.
	$(VENV)/bin/python -m benchmarks.corruption --trials 200 --seed 20

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

$(VENV)/.ask: $(VENV)/bin/python pyproject.toml $(wildcard requirements*.lock)
	@echo "Installing qa-bot into $(VENV) (a few minutes, once)…" >&2
	$(LOCKED)
	$(SELF) -e '.[documents]'
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml $(wildcard requirements*.lock)
	@echo "Installing qa-bot and its development tools into $(VENV) (a few minutes, once)…" >&2
	$(LOCKED) -r requirements-dev.lock
	$(SELF) -e '.[dev,documents,fast,minilm,otel,plots,postgres]'
	@touch $@ $(VENV)/.ask

lock: $(VENV)/.test ## Resolve constraints.txt into the lock files with hashes.
	$(PIP) -c constraints.txt uv
	$(VENV)/bin/python -m tools.lock

release: $(VENV)/.test ## Build wheel, bill of materials and checksums of the commit into dist/, signed with the ssh key SIGNING_KEY.
	rm -rf dist
	tools/release.sh $(abspath $(VENV))/bin/python dist $(SIGNING_KEY)

clean: ## Remove the virtual environment, builds and caches.
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

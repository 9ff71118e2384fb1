# make run: start kopt on this machine.    make test: check everything.
# Also: make lint (format and lint only). Variables: PYTHON=/path/to/python3.12,
# KERNELS=auto|own|cpu|cuda|none (where torch comes from; see README.md).

PYTHON ?= python3
PY := .venv/bin/python

export KERNELS
# Where it is set, every process compiles all of kopt anew: half a second for each that is started.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := run
.PHONY: run test lint ready

run: ready
	$(PY) manage.py up --demo

# Two files at a time; every process collects the tests in the same order only with one hash seed.
# In that order, since the few long tests of the browser would else come last and alone.
TWO = -n 2 --dist loadfile --no-loadscope-reorder

test: lint
	$(PY) -m mypy
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py wiki check
	$(PY) -m tools.rules --check
	env -u DATABASE_URL -u KOPT_BROKER_URL PYTHONHASHSEED=0 $(PY) -m pytest $(TWO)
	$(PY) -m tools.storage_tests

lint: ready
	$(PY) -m ruff format --check
	$(PY) -m ruff check

ready:
	@$(PYTHON) -m tools.bootstrap

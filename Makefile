# make run: start kopt on this machine (PORT=8123 chooses the port).
# make quick: what needs no evaluator, no browser and no server; for every change.
# make test: quick, the storage and browser tests, and one judged candidate for each mechanism.
# make test-all: every test, with new examples. make lint: format and lint only.
# Variables: PYTHON=/path/to/python3.12, KERNELS=auto|own|cpu|cuda|none (docs/settings.md).

PYTHON ?= python3
PY := .venv/bin/python
PORT ?= 8000

export KERNELS
# Where it is set, every process compiles all of kopt anew: half a second for each that is started.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := run
.PHONY: run quick fast test test-all checked lint ready

# The port is looked at first: on a fresh machine what follows takes minutes.
run:
	@port=$$($(PYTHON) -m tools.free_port $(PORT)) && $(PYTHON) -m tools.bootstrap \
	&& exec $(PY) manage.py up --demo --port $$port

# Two files at a time; every process collects the tests in the same order only with one hash seed.
# In that order, since the few long tests of the browser would else come last and alone.
PYTEST = env -u DATABASE_URL -u KOPT_BROKER_URL PYTHONHASHSEED=0 $(PY) -m pytest \
	-n 2 --dist loadfile --no-loadscope-reorder

QUICK = not judged and not browser and not storage
SAMPLE = sentinel or browser or (storage and not judged)
LONG = judged or browser or storage

# mypy takes one core for a minute or two, so it runs beside the tests.
quick: lint
	@$(MAKE) --no-print-directory -j2 --output-sync=line checked fast

fast:
	$(PYTEST) -m "$(QUICK)"

test: quick
	$(PYTEST) -m "$(SAMPLE)"
	$(PY) -m tools.storage_tests

test-all: lint checked
	$(PYTEST) --hypothesis-profile=explore -m "$(QUICK) or $(LONG)"
	$(PY) -m tools.storage_tests

checked:
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py wiki check
	$(PY) -m tools.shape --check
	$(PY) -m tools.rules --check
	$(PY) -m tools.reference --check

lint: ready
	$(PY) -m ruff format --check
	$(PY) -m ruff check

ready:
	@$(PYTHON) -m tools.bootstrap

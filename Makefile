# make run: start kopt on this machine (PORT=8123 chooses the port).
# make quick: what needs no evaluator and no browser; for every change.
# make test: quick, the browser, one judged candidate for each mechanism, and PostgreSQL.
# make test-all: every test, with new examples. make lint: format and lint only.
# make screens: pictures of the main pages, in docs/screens.
# Variables: PYTHON=/path/to/python3.12, KERNELS=auto|own|cpu|cuda|none (docs/settings.md).

PYTHON ?= python3
PY := .venv/bin/python
PORT ?= 8000

export KERNELS
# Where it is set, every process compiles all of kopt anew: half a second for each that is started.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := run
.PHONY: run quick test test-all tests sampled checked lint linted screens ready

# The port is looked at first: on a fresh machine what follows takes minutes.
run:
	@port=$$($(PYTHON) -m tools.free_port $(PORT)) && $(PYTHON) -m tools.bootstrap \
	&& exec $(PY) manage.py up --demo --port $$port

# Two files at a time; every process collects the tests in the same order only with one hash seed.
# In that order, since the few long tests of the browser would else come last and alone.
PYTEST = env -u DATABASE_URL -u KOPT_BROKER_URL PYTHONHASHSEED=0 $(PY) -m pytest \
	-n 2 --dist loadfile --no-loadscope-reorder

QUICK = not judged and not browser and not long
SAMPLE = $(QUICK) or ((sentinel or browser) and not long)
# mypy takes one core for a minute or two, so it runs beside the tests. All parts run to their end.
BESIDE = @$(MAKE) --no-print-directory -j2 --keep-going

quick: ready
	$(BESIDE) checked tests TESTS="$(QUICK)"

test: ready
	$(BESIDE) checked sampled

test-all: ready
	$(BESIDE) checked tests TESTS="$(QUICK) or judged or browser or long" MORE=--hypothesis-profile=explore
	$(PY) -m tools.storage_tests storage

tests:
	$(PYTEST) $(MORE) -m "$(TESTS)"

sampled:
	$(PYTEST) --durations=25 -m "$(SAMPLE)" && status=0 || status=$$?; \
	$(PY) -m tools.storage_tests && exit $$status

checked: linted
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py wiki check
	$(PY) -m tools.shape --check
	$(PY) -m tools.rules --check
	$(PY) -m tools.reference --check

linted:
	$(PY) -m ruff format --check
	$(PY) -m ruff check

lint: ready linted

# PAGES="round rounds" takes those alone.
screens: ready
	$(PY) -m pytest -q -n 0 -p no:cacheprovider tests/browser/gallery.py

ready:
	@$(PYTHON) -m tools.bootstrap

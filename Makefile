# make run: start kopt on this machine.    make test: check everything.
# Others: lint (format and lint only). Variables: PYTHON=/path/to/python3.12, KERNELS=auto|own|cpu|cuda|none.

PYTHON ?= python3
BIN := .venv/bin

# Which servers the tests marked `storage` are run on again, when they answer.
TEST_DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/test
TEST_BROKER_URL ?= redis://127.0.0.1:6379/5
export KERNELS TEST_DATABASE_URL TEST_BROKER_URL

.DEFAULT_GOAL := run
.PHONY: run test lint ready

run: ready
	$(BIN)/python manage.py up --demo

test: lint
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py wiki check
	env -u DATABASE_URL -u KOPT_BROKER_URL $(BIN)/python -m pytest
	$(BIN)/python -m tools.storage_tests

lint: ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check

ready:
	@$(PYTHON) -m tools.bootstrap

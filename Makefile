# The commands: `make run`, `make play` (the browser app) and `make test`. Each sets up everything first; later calls start at once.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# On tiny tensors, two test processes with two threads each are many times slower than two with one each. numba is left
# alone: it would cache code compiled for one thread, and training would be half as fast from then on.
ONE_THREAD := OMP_NUM_THREADS=1

.PHONY: run play test quick check lint types page-types docs pages bench slow mutants fuzz audit release clean

run: .venv/.core
	$(BIN)/tacit reproduce rebel-table2 --rows tabular,cfr-d --games 1x4f

play: .venv/.web
	$(BIN)/tacit serve --open

# Types are checked in parallel with the tests: alone they would leave one of two cores idle.
test: lint
	$(MAKE) --no-print-directory --jobs 2 types quick

# Each worker gets half of the tests, in order, so most kernels are compiled and most fixtures made by one worker only.
quick: .venv/.dev
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

check: test

# The wheel is built from the sdist, installed into an empty environment and used there.
release: .venv/.dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist . >/dev/null
	$(BIN)/python tests/release.py dist/*.whl dist/*.tar.gz

mutants: .venv/.dev
	$(BIN)/python -m tests.mutants

# Mutates every input from outside: a million inputs in ten minutes on an idle machine. Failing inputs are kept in out/fuzz.
fuzz: .venv/.dev
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz --inputs 1000000 --seconds 600

# Checks the installed packages for known vulnerabilities, and their licences. Without a network it says so and passes.
audit: .venv/.dev
	$(BIN)/python -m tests.audit

slow: .venv/.dev
	$(BIN)/python -m pytest -m slow

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev page-types
	$(BIN)/mypy

# The web pages are plain modules with types in comments. Node checks them if installed; using or shipping them needs no Node.
page-types: | .venv/bin/python
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory .venv/typescript && .venv/typescript/node_modules/.bin/tsc -p .; \
	else echo "no npm: types of the pages are not checked"; fi

.venv/typescript: | .venv/bin/python
	npm install --silent --no-save --prefix $@ typescript@5.9.3

# Builds the site in out/site. A dead link or anchor fails the build.
docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "the site is in out/site: open out/site/index.html, or say $(BIN)/mkdocs serve"

# Regenerates what code writes and draws: game pages and pictures.
pages: .venv/.dev
	$(BIN)/python docs/make_game_pages.py
	$(BIN)/python docs/make_rebel_pages.py
	$(BIN)/python docs/make_sog_pages.py

bench: .venv/.bench
	$(BIN)/tacit bench tabular

.venv/bin/python:
	@echo "setting up .venv (a few minutes the first time)"
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[openspiel,pettingzoo,poker,web,dev]"
	@touch $@ .venv/.core .venv/.web

.venv/.web: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[web]"
	@touch $@ .venv/.core

.venv/.bench: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable ".[bench]"
	@touch $@ .venv/.core

clean:
	rm -rf .venv dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path "./.git/*" -prune -exec rm -rf {} +

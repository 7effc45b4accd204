# The commands: `make run`, `make play` (the browser app) and `make test`. All set everything up first; a second call starts at once.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Two test processes that each use two threads for tiny tensors are many times slower than two with one each. numba is not told:
# what it compiles for one thread it keeps, and training would be half as fast from then on.
ONE_THREAD := OMP_NUM_THREADS=1

.PHONY: run play test quick check lint types page-types docs pages bench slow mutants fuzz audit release clean

run: .venv/.core
	$(BIN)/tacit reproduce rebel-table2 --rows tabular,cfr-d --games 1x4f

play: .venv/.web
	$(BIN)/tacit serve --open

# Types are checked beside the tests: alone they would leave one of two cores idle.
test: lint
	$(MAKE) --no-print-directory --jobs 2 types quick

# Each worker gets one half of the tests in order: most kernels are compiled, and most fixtures made, by one of them alone.
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

# Every input from outside, mutated: a million inputs in ten minutes on an idle machine. What fails is kept in out/fuzz.
fuzz: .venv/.dev
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz --inputs 1000000 --seconds 600

# What is known against the installed packages, and their licences. Without a network it says so and passes.
audit: .venv/.dev
	$(BIN)/python -m tests.audit

slow: .venv/.dev
	$(BIN)/python -m pytest -m slow

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev page-types
	$(BIN)/mypy

# The pages are plain modules with types in comments. Node checks them where it is there; nobody needs it to use or ship them.
page-types: | .venv/bin/python
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory .venv/typescript && .venv/typescript/node_modules/.bin/tsc -p .; \
	else echo "no npm: types of the pages are not checked"; fi

.venv/typescript: | .venv/bin/python
	npm install --silent --no-save --prefix $@ typescript@5.9.3

# The site, in out/site. A link or an anchor that leads nowhere fails it.
docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "the site is in out/site: open out/site/index.html, or say $(BIN)/mkdocs serve"

# What is drawn or written by code: pages of games, pictures.
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

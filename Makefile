# `make run` and `make test` set up everything they need in .venv; nothing else has to be installed first but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.DEFAULT_GOAL := help
.PHONY: help run paper publish tournament test long quick check format bench calibration decisions pairing fuzz soak lowest kernels postgresql chromium compressors docs clean

help:  ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(VENV)/installed  ## the main job: which settings of Python's compressors are worth knowing, for sure, in about a minute, and a report
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/paretopick run examples/compressors/study.toml
	$(BIN)/paretopick report compressors --out compressors.html

# make paper RUNS=200 is a quick look; make paper DATA=snw.csv includes the sorting networks.
RUNS ?= 4000
OUT ?= paper-results
DATA ?=

paper: $(VENV)/installed  ## every figure and table of the paper from our own runs, and whether its claims hold: RUNS=4000 DATA=
	$(BIN)/paretopick paper --runs $(RUNS) --out $(OUT) $(if $(DATA),--data $(DATA))

publish:  ## put the page of the last `make paper`, and the pictures and data that it links to, under docs/
	mkdir -p docs/figures
	cp $(OUT)/reproduction.md docs/
	grep -o 'figures/[a-z0-9-]*\.[a-z]*' $(OUT)/reproduction.md | sort -u | xargs -I{} cp $(OUT)/{} docs/{}

# Runs go on where they stopped, as long as the code of the policies stays; after a change of it, remove tournament-results.
tournament: $(VENV)/installed  ## every policy on the paper's instances and on random problems, into docs/policies.md: hours, DATA=
	$(BIN)/paretopick tournament --set tuning,judging --answers --out tournament-results $(if $(DATA),--data $(DATA))
	$(BIN)/paretopick tournament --set paper --runs 20000 --answers --out tournament-results $(if $(DATA),--data $(DATA))
	cp tournament-results/policies.md docs/
	cp tournament-results/figures/tournament.png tournament-results/figures/tournament.csv docs/figures/

# Twice as many as there are cores, since many tests wait for processes and servers.
TESTERS := $(shell $(PYTHON) -c 'import os; print(2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "auto")')

test: check postgresql chromium compressors kernels  ## everything that must pass: the checks, then the tests on all cores
	$(BIN)/pytest -n $(TESTERS) --dist worksteal -m "not long"

long: $(VENV)/installed-dev postgresql chromium compressors kernels  ## the tests that `make test` leaves out: more cases of the same, about five minutes
	$(BIN)/pytest -n $(TESTERS) --dist worksteal -m long

quick: $(VENV)/installed-dev kernels  ## a look while working, in under a minute: no processes, PostgreSQL or browser, no long simulations
	$(BIN)/pytest -n auto --dist worksteal -m "not slow and not long"

# make fuzz FUZZ=10 is a look of a minute or two; the tests try each case once.
FUZZ ?= 100

fuzz: $(VENV)/installed-dev  ## hostile values, files, saves and arguments, other ones each time: about ten minutes, FUZZ=100
	PARETOPICK_FUZZ=$(FUZZ) $(BIN)/pytest tests/fuzz -n auto --dist worksteal

# What old versions of others say of each other is not ours to mend: deprecations are no errors here.
LOWEST := .venv-lowest
INSTALL_LOWEST = $(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt

lowest:  ## the quick tests with the lowest versions of everything that pyproject.toml allows: some minutes
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python tests/support/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(INSTALL_LOWEST) '.[parquet,postgresql]' --group test
	PYTHONPATH=tests $(LOWEST)/bin/python tests/support/kernels.py
	$(LOWEST)/bin/pytest -n auto --dist worksteal -m "not slow and not long" -W ignore::DeprecationWarning

# The tests would compile them, too, but each of their processes all of them at the same time.
kernels: $(VENV)/installed-dev  ## compile the simulation kernels, if they are not on disk: two minutes of one core
	@PYTHONPATH=tests $(BIN)/python tests/support/kernels.py

postgresql:  ## install the server that the tests start for themselves, if it is not there
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
		|| { echo "installing PostgreSQL for the tests"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq postgresql; }

chromium:  ## install the browser in which the tests open reports, if it is not there
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null \
		|| { echo "installing Chromium for the tests"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium; }

compressors:  ## install the programs that a tutorial times, if they are not there
	@{ command -v bzip2 && command -v xz; } >/dev/null \
		|| { echo "installing bzip2 and xz for the tests"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq bzip2 xz-utils; }

check: $(VENV)/installed-dev  ## format, lint, types, layers, doctests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --doctest-modules --ignore=src/paretopick/storage/migrations src

format: $(VENV)/installed-dev  ## put the code into its one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/installed postgresql  ## times as ratios to a baseline: gaps, policies, simulation, studies, plans
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/studies.py
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/blocks.py

calibration: $(VENV)/installed  ## how often it is true what results say, into docs/calibration.md: about ten minutes
	$(BIN)/python benchmarks/calibration.py

decisions: $(VENV)/installed  ## what margins, limits and stopping when sure are worth, into docs/decisions.md: about half an hour
	$(BIN)/python benchmarks/decisions.py

pairing: $(VENV)/installed  ## what pairing is worth, and how often paired results are right, into docs/pairing-results.md: about an hour
	$(BIN)/python benchmarks/pairing.py

# make soak SECONDS=60 REPORT= is a quick look; SEED=5 disturbs in the same way again.
SECONDS ?= 900
SEED ?=
REPORT ?= benchmarks/SOAK.md

soak: $(VENV)/installed-dev postgresql  ## kill workers and servers and cut connections, then look for broken promises: SECONDS=900
	PYTHONPATH=tests $(BIN)/python -m soak --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(REPORT),--report $(REPORT))

docs: $(VENV)/installed-docs compressors  ## the documentation site, into site/: runs the tutorials (a minute or two; kept until they or the code change)
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going -d build/docs -c docs/building docs site
	@echo "Wrote the site to site/index.html"

clean:  ## remove what was installed and cached
	rm -rf $(VENV) $(LOWEST) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build/docs site

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "paretopick needs Python 3.11 or newer; $(PYTHON) is older. Say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) \
		|| { echo "this Python cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

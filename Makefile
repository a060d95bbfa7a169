# Two commands: `make` regenerates everything, `make test` checks everything. Both set up what they need in .venv.
PYTHON ?= python3
CONFIG ?= config/config.yaml
CORES ?= all

BIN := .venv/bin
READY := .venv/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
SNAKEMAKE = $(BIN)/snakemake --workflow-profile workflow/profiles/default --configfile $(CONFIG) --cores $(CORES)

.PHONY: all quick validate test lint bench screenshot lock clean help

all: $(READY) ## regenerate every table, every figure and the page (about 9 minutes on 2 cores)
	$(SNAKEMAKE)

quick: $(READY) ## the same workflow on little data (under two minutes), into results/quick
	$(MAKE) all CONFIG=config/quick.yaml

validate: $(READY) ## how often the auditors err on correct mechanisms, 1,000 repetitions (about 40 minutes on 2 cores)
	$(SNAKEMAKE) validate

test: $(READY) lint ## all tests
	$(BIN)/python -m pytest --numprocesses 2

lint: $(READY) ## style, types and workflow checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

bench: $(READY) ## speed figures, on one core; PARTS="solver audits" for some of them
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench $(PARTS)

screenshot: $(READY) ## the README's picture of the page, after `make` (needs chromium)
	$(BIN)/python -m tests.browser reports/index.html docs/report.png

lock: ## renew requirements.lock from pyproject.toml (then bring environment.yml along)
	$(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install --quiet uv
	.venv-lock/bin/uv pip compile pyproject.toml --all-extras --universal --fork-strategy fewest --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet --output-file requirements.lock
	printf 'diffprivlib==0.6.6\nscikit-learn>=1.5,<1.7\n' | .venv-lock/bin/uv pip compile - --universal --fork-strategy fewest \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet \
	  --output-file workflow/envs/diffprivlib.lock
	rm -r .venv-lock

clean: ## remove what was built, but not the environment
	rm -rf results reports/*.html logs .snakemake

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Epsilometer needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

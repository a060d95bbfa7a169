# `make` regenerates everything, and `make test` checks everything. Both first install what they need into .venv.
PYTHON ?= python3
CONFIG ?= config/config.yaml
CORES ?= all

BIN := .venv/bin
READY := .venv/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
SNAKEMAKE = $(BIN)/snakemake --workflow-profile workflow/profiles/default --configfile $(CONFIG) --cores $(CORES)

.PHONY: all quick validate test check lint docs bench screenshot lock clean help

all: $(READY) ## regenerate every table, every figure and the page (about 9 minutes on 2 cores)
	$(SNAKEMAKE)

quick: $(READY) ## the same workflow on little data, into results/quick (under two minutes)
	$(MAKE) all CONFIG=config/quick.yaml

validate: $(READY) ## error rates of the auditors on correct mechanisms, from 1,000 repetitions (about 40 minutes on 2 cores)
	$(SNAKEMAKE) validate

test: $(READY) lint ## all tests (about ten minutes on 2 cores)
	$(BIN)/python -m pytest --numprocesses 2

check: $(READY) lint ## the fast tests (under 90 seconds on 2 cores)
	$(BIN)/python -m pytest --numprocesses 2 -m "not slow"

docs: $(READY) ## regenerate the generated pages of the documentation, and build the site into site/
	$(BIN)/python -m epsilometer.report.documentation
	$(BIN)/mkdocs build --strict

lint: $(READY) ## check style, types and the workflow's rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

bench: $(READY) ## benchmarks on one core; PARTS="solver audits" selects some of them
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench $(PARTS)

screenshot: $(READY) ## renew the README's picture of the page, after `make` (needs chromium)
	$(BIN)/python -m tests.browser reports/index.html docs/report.png

lock: ## renew the lock files from pyproject.toml and the libraries' requirements (then update environment.yml by hand)
	$(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install --quiet uv
	.venv-lock/bin/uv pip compile pyproject.toml --all-extras --universal --fork-strategy fewest --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet --output-file requirements.lock
	for library in src/epsilometer/libraries/*/requirements.in; do .venv-lock/bin/uv pip compile $$library --universal \
	  --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet \
	  --output-file $${library%.in}.lock || exit 1; done
	rm -r .venv-lock

clean: ## remove all results, pages and logs, but not the environment
	rm -rf results reports/*.html logs site .snakemake

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Epsilometer needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# `make demo` and `make test` need nothing but Python 3.11 or newer and a package index: they set everything up in .venv.

PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
VENV := .venv
BIN := $(VENV)/bin
ENGINES := vllm==0.33.0 sglang==0.5.23
READY := $(VENV)/.ready
UV := UV_PROJECT_ENVIRONMENT=$(VENV) UV_PYTHON_DOWNLOADS=never $(BIN)/uv

.PHONY: help setup check test demo corpus docs conformance clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## make .venv with the locked packages

demo: setup  ## analyze the bundled crash log: summary here, HTML report beside it
	@echo '$$ analyze fixtures/demo/crash.log --config fixtures/demo/profiles.yaml'
	@rm -f crash*.report.html
	@$(BIN)/analyze fixtures/demo/crash.log --config fixtures/demo/profiles.yaml || test $$? -eq 1  # 1: the log has findings, as it should
	@ls crash*.report.html >/dev/null

test: setup  ## all tests, in random order
	$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist loadgroup

check: setup  ## linters, formatter, types, layers, spelling
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

corpus: setup  ## score the analyzer on the corpus of crash reports
	$(BIN)/python -m tests.corpus.score

docs: setup  ## write docs/ again from the rules, the grammars and the command line
	$(BIN)/python docs/generate.py

conformance: setup  ## take the memory messages of the newest engines from their packages, and write fixtures/conformance/ and docs/ again
	$(BIN)/python -m analyzer.conformance --store fixtures/conformance $(ENGINES)
	$(BIN)/python docs/generate.py

clean:  ## remove everything that was made
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache *.report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is as the lock says; the stamp makes the second call free.
$(READY): pyproject.toml uv.lock | $(BIN)/uv
	@$(UV) sync --frozen --quiet
	@touch $@

$(BIN)/uv:
	@for python in $(PYTHON); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    "$$python" -c 'import ensurepip, venv' 2>/dev/null || { \
	        echo "$$python cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
	    echo "Setting up $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check uv; \
	    exit $$?; \
	done; \
	echo "Python 3.11 or newer is needed; none found among: $(PYTHON). Name one with: make PYTHON=/path/to/python3" >&2; \
	exit 1

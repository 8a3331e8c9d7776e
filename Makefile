# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The commands of this project; `make help` lists them.

PYTHON := .venv/bin/python
# Each process that runs tests takes up to 2 GB.
JOBS ?= $(shell echo $$(( $$(nproc) < 4 ? $$(nproc) : 4 )))
# Of a test with more cases, those that are spread evenly; the weekly run runs all.
CASES ?= 6
export PATH := $(dir $(abspath $(PYTHON))):$(PATH)

# Memory of the host that was freed is overwritten, so that a use of it is noticed.
unit coverage: export MALLOC_PERTURB_ := 85

.DEFAULT_GOAL := help
.PHONY: help setup quick test generate-check lint check-host unit coverage filecheck example docs site documentation \
	generate pythons newest-jax bench

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv with the project and all that its tests need
	bash tools/setup.sh dev

quick: ## Run something of every part of the tests, in less than two minutes
	@$(PYTHON) -c 'import filecheck, hypothesis, lit, pytest, xdist' 2> /dev/null || bash tools/setup.sh test
	$(PYTHON) tools/quick.py

test: generate-check lint unit filecheck example documentation ## Run every check with this Python

generate-check: ## Check that the generated files follow from td/, the records of operations, the passes and the flags of the tools
	$(PYTHON) tools/gen_dialect.py --check
	$(PYTHON) tools/operation_table.py --check
	$(PYTHON) tools/pass_reference.py --check
	$(PYTHON) tools/cli_reference.py --check

lint: ## Check style and types
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m pyright --pythonpath $(PYTHON)

check-host: ## Check that the MLIR host does what the project relies on, as `unit` does
	$(PYTHON) tools/check_host.py

unit: ## Run the tests in Python, and those against C++ Shardy
	$(PYTHON) -m pytest -n $(JOBS) --dist worksteal --most-cases=$(CASES) --durations=20 --durations-min=5

coverage: ## Run the tests in Python and report the lines that they run in build/coverage/html
	$(PYTHON) -m pytest -n $(JOBS) --cov --cov-report=html:build/coverage/html --cov-fail-under=90

filecheck: ## Run the tests of the tools on MLIR files
	lit -j $(JOBS) test/lit

example: ## Run the first example of the README
	sdy-run examples/transformer_block.mlir

docs: generate ## Write docs/reference/, and the pictures of the guide
	$(PYTHON) docs/guide/make_pictures.py
	$(PYTHON) tools/run_notebook.py

documentation: ## Run all commands and code of README and guides, with the package as installed
	$(PYTHON) tools/check_documentation.py

site: ## Build the documentation into build/site; warnings are errors, as in `unit`
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

pythons: ## Build the package, and test it as installed with each Python of this machine
	$(PYTHON) tools/check_pythons.py

newest-jax: ## Run the tests of front ends and XLA with the newest JAX, on Python 3.12
	$(PYTHON) tools/newest_jax.py

generate: ## Write dialect/mlir_sdy/ods/ from td/, and docs/reference/ from all that it describes
	$(PYTHON) tools/gen_dialect.py
	$(PYTHON) tools/pass_reference.py
	$(PYTHON) tools/cli_reference.py

bench: ## Run the measurements, as ratios to peers in the same run, and write their page
	$(PYTHON) bench/assembly.py
	$(PYTHON) bench/run_all.py -o docs/reference/speed.md

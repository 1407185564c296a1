# Everything a developer does, one target each. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
OLDEST ?= python3.10
# Tests mostly wait: more of them at once than there are cores. Each process starts a control plane of its own.
PROCESSES ?= 3
VENV ?= .venv
BIN := $(VENV)/bin
say = @printf '\n\033[1m==> %s\033[0m\n' "$(1)"

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)-demo/.installed ## Train for real, here and now: two parameter servers, two workers, live
	$(call say,Getting PaddlePaddle)
	@$(VENV)-demo/bin/python tools/paddle_env.py
	$(call say,Running examples/wide_and_deep on 2 servers and 2 workers (about half a minute))
	@$(VENV)-demo/bin/paddlejob run examples/wide_and_deep/job.yaml
	$(call say,What to try next)
	@echo "  $(VENV)-demo/bin/paddlejob list"
	@echo "  $(VENV)-demo/bin/paddlejob describe wide-and-deep"
	@echo "  $(VENV)-demo/bin/paddlejob logs wide-and-deep --role ps"
	@echo "  $(VENV)-demo/bin/paddlejob run examples/resnet/job.yaml"
	@echo "  kubectl create -f examples/wide_and_deep/job.yaml   # the same file on a cluster"

$(VENV)-demo/.installed: pyproject.toml
	$(call say,Making a Python environment for paddlejob in $(VENV)-demo)
	@$(PYTHON) -m venv $(VENV)-demo
	@$(VENV)-demo/bin/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

test: check cluster paddle ## Everything: linters, types, generated files, then all tests: real API server, real PaddlePaddle
	$(call say,Testing the core: every branch of it)
	@$(BIN)/pytest -q -n $(PROCESSES) tests/core --ignore=tests/core/properties --cov=paddlejob.core --cov-branch --cov-report=term:skip-covered --cov-fail-under=100
	$(call say,Running all other tests (about a quarter of an hour))
	@$(BIN)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --ignore-glob='tests/core/test_*.py'

bench: cluster ## What a job costs: time, API calls, CPU and memory, on a real API server with simulated nodes
	@$(BIN)/python -m bench.cli
	@$(BIN)/python -m bench.local
	@$(BIN)/python -m bench.jobs
	@RECOVERY_JOBS=200 $(BIN)/pytest -q -s tests/scenarios/test_recovery.py

paddle: env ## Make the environments with PaddlePaddle for the tests and examples (about 1.3 GB)
	$(call say,Getting PaddlePaddle for the tests)
	@$(BIN)/python tools/paddle_env.py 2.6.2 3.3.1
	@$(BIN)/python -m tools.elastic_env
	@$(BIN)/python -m tests.sdk.environments

quick: env ## Only the tests that need no cluster
	@$(BIN)/pytest tests/api tests/core tests/kube tests/cli tests/local

check: env ## Linters, types, import contracts, generated files
	$(call say,Checking style and types and import contracts and generated files)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports | tail -n 3
	@$(BIN)/python tools/generate.py --check

cluster: env ## Get or build the Kubernetes control plane for the tests (about 7 minutes the first time)
	$(call say,Getting the Kubernetes control plane for the tests)
	@$(BIN)/python -m tests.cluster.binaries

generate: cluster ## Write the generated files: pod template schema, CRDs, derived manifests
	@$(BIN)/python -m tools.pod_template_schema
	@$(BIN)/python tools/generate.py

format: env ## Format and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format --quiet .

lock: ## Pin the development versions anew in requirements-dev.txt (needs the oldest Python that we support)
	$(call say,Resolving versions with $(OLDEST))
	@$(OLDEST) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	@$(VENV)-lock/bin/pip-compile --quiet --upgrade --extra dev --generate-hashes --allow-unsafe --no-strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header \
	  --output-file requirements-dev.txt pyproject.toml
	@# What only the oldest Python needs, and newer ones refuse.
	@sed -i -E 's/^(backports-asyncio-runner==[^ ]+) \\/\1 ; python_version < "3.11" \\/' requirements-dev.txt
	@rm -rf $(VENV)-lock

env: $(VENV)/.installed ## Make the virtual environment

$(VENV)/.installed: requirements-dev.txt pyproject.toml
	$(call say,Making the Python environment in $(VENV))
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

clean: ## Remove the environment and all caches of this folder
	@rm -rf $(VENV) $(VENV)-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help demo paddle test bench quick check cluster generate format lock env clean

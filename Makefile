# Everything a developer does, one target each. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
OLDEST ?= python3.10
# Tests mostly wait: more of them at once than there are cores. Each process starts a control plane of its own.
PROCESSES ?= 4
VENV ?= .venv
BIN := $(VENV)/bin
STEP := "$(PYTHON)" tools/step.py
PYTEST := "$(BIN)/pytest" -q -n $(PROCESSES)
# A file stays in one process, which makes what its tests share once; tests/conftest.py says which files come first.
BY_FILE := --dist loadfile --no-loadscope-reorder
SCHEDULERS := volcano-scheduler volcano-controllers volcano-webhook-manager kueue \
  coscheduling-scheduler coscheduling-controller \
  kube-apiserver-1-36 kube-controller-manager-1-36 kube-scheduler-1-36
# Tests on a real node that change what others share, or that measure.
ALONE := cluster install faults names figures
COMPILE := "$(VENV)-lock/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --no-strip-extras \
  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header
# Where the version of the API server can matter.
COMPATIBLE := $(addprefix tests/,api/test_seeds.py deploy/test_install.py $(addprefix scenarios/,test_cli_install.py \
  test_fuzz.py test_lives.py test_manifests_of_others.py test_predecessor.py test_refusals.py test_table.py test_whole_lives.py))
# The parts of one run of make belong together.
export RUN := $(or $(RUN),$(shell date +%s%N))
export VENV
# Compiled files are kept: every command of a test would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Train for real, here and now: two parameter servers, two workers, live
	@$(STEP) "Making a Python environment for paddlejob in $(VENV)-demo" "$(PYTHON)" tools/environments.py demo
	@$(STEP) "Getting PaddlePaddle" "$(PYTHON)" tools/environments.py paddle-2.6.2
	@printf '\n==> Running examples/wide_and_deep on 2 servers and 2 workers (about half a minute)\n'
	@"$(VENV)-demo/bin/paddlejob" run examples/wide_and_deep/job.yaml
	@printf '\n==> What to try next\n'
	@echo "  $(VENV)-demo/bin/paddlejob list"
	@echo "  $(VENV)-demo/bin/paddlejob describe wide-and-deep"
	@echo "  $(VENV)-demo/bin/paddlejob logs wide-and-deep --role ps"
	@echo "  $(VENV)-demo/bin/paddlejob run examples/resnet/job.yaml"
	@echo "  kubectl create -f examples/wide_and_deep/job.yaml   # the same file on a cluster"

test: check control-plane paddle browser ## Everything: linters, types, generated files, then all tests: real API server, real PaddlePaddle
	@$(STEP) "Testing the core: every branch of it" $(PYTEST) tests/core --ignore=tests/core/properties \
	  --cov=paddlejob.core --cov-branch --cov-report=term:skip-covered --cov-fail-under=100
	@$(STEP) "Running all other tests" $(PYTEST) $(BY_FILE) --ignore-glob='tests/core/test_*.py'
	@"$(PYTHON)" tools/step.py --summary

quick: env ## The tests that need neither a cluster nor PaddlePaddle, with fewer random tries
	@$(STEP) "Running the tests that need neither a cluster nor PaddlePaddle" env EXAMPLES=40 $(PYTEST) $(BY_FILE) -m "not cluster and not campaign and not large" \
	  tests/api tests/core tests/kube tests/operator tests/cli tests/local tests/places tests/chaos

pythons: control-plane ## Run the tests that need no PaddlePaddle on each Python of this machine, 3.10 to 3.13
	@for python in $$("$(PYTHON)" tools/pythons.py); do \
	  version=$${python##*python}; venv="$(VENV)-py$$version"; \
	  VENV="$$venv" $(STEP) "Making the Python environment in $$venv" "$$python" tools/environments.py dev; \
	  $(STEP) "Running the tests that need no PaddlePaddle on Python $$version" "$$venv/bin/pytest" -q -n $(PROCESSES) \
	    $(BY_FILE) -m "not paddle"; \
	done
	@"$(PYTHON)" tools/step.py --summary

bench: control-plane ## What a job costs: time, API calls, CPU and memory, on a real API server with simulated nodes
	@"$(BIN)/python" -m bench.cli
	@"$(BIN)/python" -m bench.local
	@"$(BIN)/python" -m bench.looks
	@"$(BIN)/python" -m bench.jobs
	@RECOVERY_JOBS=200 "$(BIN)/pytest" -q -s tests/scenarios/test_recovery.py

paddle: ## Make the environments with PaddlePaddle for the tests and examples (about 1.3 GB)
	@$(STEP) "Getting PaddlePaddle for the tests" "$(PYTHON)" tools/environments.py \
	  paddle-2.6.2 paddle-3.3.1 elastic sdk-2.6.2 sdk-3.3.1 sdk-none

browser: env ## Get the browser for the tests of the page, as root, and what drives it
	@$(STEP) "Getting a browser" "$(BIN)/python" tools/chromium.py
	@$(STEP) "Getting what drives it" "$(BIN)/python" tools/environments.py browser

progress-load: control-plane ## What reading progress costs with 300 running jobs: about a quarter of an hour
	@"$(BIN)/python" -m bench.progress

hangs: env ## Stop workers of real training and see the job say so: about five minutes
	@$(STEP) "Getting PaddlePaddle" "$(PYTHON)" tools/environments.py paddle-2.6.2
	@$(STEP) "Stopping workers of real training" "$(BIN)/pytest" -q tests/hangs

programs: env ## Run each program of today in each network and write docs/programs.md: about an hour; ROWS=paddleformers for some
	@$(STEP) "Running each program in each network" "$(BIN)/python" -m tests.training.matrix $(if $(ROWS),"$(ROWS)")

check: env ## Linters, types (the page's too), import contracts, generated files
	@$(STEP) "Checking style" "$(BIN)/ruff" format --check --quiet .
	@$(STEP) "Linting" "$(BIN)/ruff" check --quiet .
	@$(STEP) "Checking types" "$(BIN)/mypy"
	@$(STEP) "Checking import contracts" "$(BIN)/lint-imports"
	@$(STEP) "Checking generated files" "$(BIN)/python" tools/generate.py --check
	@$(STEP) "Checking the types of the page" "$(BIN)/python" tools/page_checks.py

control-plane: env ## Get or build the Kubernetes control plane for the tests (about 9 minutes the first time)
	@$(STEP) "Getting the Kubernetes control plane for the tests" "$(BIN)/python" -m tests.cluster.binaries

chaos: control-plane ## Random jobs and random trouble at once: SECONDS=600 SEED=n (tests/chaos/README.md)
	@"$(BIN)/python" -m tests.chaos $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

page-picture: env ## Make docs/page.png anew, the picture of the page in README
	@PICTURE=1 "$(BIN)/pytest" -q -n 1 tests/ui/test_look.py -k picture

ui-load: control-plane ## The page under load: 500 jobs, 2,000 pods, 50 changes a second, SECONDS=600
	@"$(BIN)/python" -m tests.ui.load $(if $(SECONDS),--seconds $(SECONDS))

cluster: env ## Start a Kubernetes cluster of one real node on this machine, as root (tests/node/README.md)
	@$(STEP) "Looking at this machine" "$(BIN)/python" -m tests.node machine
	@$(STEP) "Getting the programs of the cluster" "$(BIN)/python" -m tests.node programs
	@$(STEP) "Making the images of the operator and the examples" "$(BIN)/python" -m tests.node images
	@$(STEP) "Starting the cluster" "$(BIN)/python" -m tests.node up
	@$(STEP) "Loading the images" "$(BIN)/python" -m tests.node load

cluster-down: env ## End it and remove every trace of it
	@$(STEP) "Ending the cluster" "$(BIN)/python" -m tests.node down

e2e: env ## Jobs on the cluster that `make cluster` has started: the operator's image, real pods, real training
	@$(STEP) "Looking for the cluster" "$(BIN)/python" -m tests.node find
	@# These change what the others share.
	@$(STEP) "Starting and ending another cluster" "$(BIN)/pytest" -q tests/node/test_cluster.py
	@$(STEP) "Installing the operator on the cluster, and removing it" "$(BIN)/pytest" -q tests/node/test_install.py
	@$(STEP) "Training on the cluster" "$(BIN)/pytest" -q -n 3 tests/node $(patsubst %,--ignore=tests/node/test_%.py,$(ALONE))
	@$(STEP) "Breaking the node, the operator and the API server" "$(BIN)/pytest" -q tests/node/test_faults.py
	@$(STEP) "Measuring how jobs start" "$(BIN)/pytest" -q tests/node/test_names.py tests/node/test_figures.py
	@"$(PYTHON)" tools/step.py --summary

packages: control-plane ## The Helm chart on a real API server with Helm 3 and 4, the alerts with promtool, the parts of a release
	@$(STEP) "Getting helm and promtool" "$(BIN)/python" -m tests.cluster.binaries helm helm-4 promtool
	@$(STEP) "Testing the chart, the alerts and the release" "$(BIN)/pytest" -q -n 2 $(BY_FILE) tests/packages
	@"$(PYTHON)" tools/step.py --summary

compatibility: control-plane ## The scenarios that depend on it, on the oldest and on the newest Kubernetes that could be built
	@for version in 1.30 1.36; do export KUBERNETES=$$version; \
	  $(STEP) "Getting Kubernetes $$version" "$(BIN)/python" -m tests.cluster.binaries; \
	  $(STEP) "Running jobs on Kubernetes $$version" "$(BIN)/pytest" -q -n 2 $(BY_FILE) tests/compatibility $(COMPATIBLE); \
	done
	@"$(PYTHON)" tools/step.py --summary

release: env ## What a release is made of, in dist (docs/release.md); the chart if helm is there
	@$(STEP) "Putting the release together" "$(BIN)/python" tools/release.py

schedulers: control-plane ## Jobs as gangs on real schedulers: Volcano, coscheduling, Kueue and Kubernetes 1.36
	@$(STEP) "Getting the schedulers" "$(BIN)/python" -m tests.cluster.binaries $(SCHEDULERS)
	@$(STEP) "Running jobs on each scheduler" $(PYTEST) $(BY_FILE) tests/schedulers
	@"$(PYTHON)" tools/step.py --summary

generate: control-plane ## Write the generated files: pod template schema, CRDs, derived manifests
	@"$(BIN)/python" -m tools.pod_template_schema
	@"$(BIN)/python" tools/generate.py

chinese: ## Where the Chinese pages differ from the English or are older; PAGE=docs/cli.md stamps one that was brought up to date
	@"$(PYTHON)" tools/translations.py $(PAGE)

format: env ## Format and fix what can be fixed
	@"$(BIN)/ruff" check --quiet --fix . || true
	@"$(BIN)/ruff" format --quiet .

lock: ## Pin the versions anew (needs the oldest Python that we support)
	@VENV="$(VENV)-lock" $(STEP) "Making an environment with $(OLDEST)" $(OLDEST) tools/environments.py dev
	@$(STEP) "Pinning the versions for development" $(COMPILE) --upgrade --extra dev --output-file requirements-dev.txt pyproject.toml
	@# What only the oldest Python needs, and newer ones refuse.
	@sed -i -E 's/^(backports-asyncio-runner==[^ ]+) \\/\1 ; python_version < "3.11" \\/' requirements-dev.txt
	@$(STEP) "Pinning the versions for users" $(COMPILE) --constraint requirements-dev.txt --output-file requirements.txt pyproject.toml
	@printf '%s\n' playwright | $(COMPILE) --output-file tests/ui/requirements.txt -
	@printf '%s\n' pip setuptools wheel hatchling editables \
	  | $(COMPILE) --constraint requirements-dev.txt --output-file requirements-build.txt -
	@rm -rf "$(VENV)-lock"

env: ## Make the virtual environment
	@$(STEP) "Making the Python environment in $(VENV)" "$(PYTHON)" tools/environments.py dev

clean: ## Remove the environments and all caches of this folder
	@rm -rf "$(VENV)" "$(VENV)"-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +


.PHONY: help demo paddle browser hangs progress-load programs test pythons bench chaos quick check control-plane cluster cluster-down e2e page-picture ui-load schedulers packages compatibility release generate chinese format lock env clean

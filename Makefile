# The two commands, make demo and make test, and what they are made of. A second call only does what has changed.

PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$python && break; done)
OLDEST_PYTHON ?= $(shell for python in python3.10 $(PYTHON); do $$python -c '' 2>/dev/null && echo $$python && break; done)
LOGDIR ?= runs
PORT ?= 6006

BIN := .venv/bin
PY := $(BIN)/python
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

INSTALLED := .venv/.installed
NODE_INSTALLED := node_modules/.installed
BUNDLE := tb_shapeplugin/serve/static/index.js
BUNDLE_SOURCES := $(shell find frontend -type f -not -path '*/tests/*' -not -path '*/dist/*') package.json
PACKAGE_SOURCES := $(shell find tb_shapeplugin -type f -name '*.py')
DEMOS := $(wildcard demo/*.py)
WHEEL := build/wheel/.built

TORCHLESS := base record wire ops analyse report read write serve

# Two workers share a small machine's cores: more threads in each only wait for one another.
export OMP_NUM_THREADS ?= 1
# Nothing here trains on a GPU or asks a hub for weights.
export HF_HUB_OFFLINE := 1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install frontend demo demo-data test check unit package e2e demos test-oldest format bench chromium clean

help: ## What there is
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 22

# --- the two commands ---

demo: demo-data ## Installs, builds, writes the demo runs, starts TensorBoard and prints the link to the tab
	@port=$$($(PY) tools/free_port.py $(PORT)) && \
	printf '\n  The tab:  http://127.0.0.1:%s/#shapes\n\n' "$$port" && \
	exec $(BIN)/tensorboard --logdir $(LOGDIR) --host 127.0.0.1 --port "$$port"

test: check unit package e2e demos ## Everything that CI runs

# --- what they are made of ---

install: $(INSTALLED) ## .venv with the package and all that developing needs

frontend: $(BUNDLE) ## The bundle that TensorBoard serves

demo-data: $(LOGDIR)/.written ## Writes the demo runs into runs/ without serving them

check: $(INSTALLED) $(BUNDLE) ## Lint, formats, types, generated files, the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	npm run --silent check
	$(PY) tools/gen_proto.py --check
	$(PY) tools/make_notices.py --check
	$(PY) tools/check_house.py

unit: $(INSTALLED) $(BUNDLE) ## Tests of every room, in Python and TypeScript
	npm run --silent test
	$(BIN)/pytest -n 2 --ignore tests/package --ignore tests/e2e --ignore tests/demo

package: $(INSTALLED) $(BUNDLE) ## Builds the wheel and tests it in a clean environment without torch
	$(BIN)/pytest tests/package

e2e: $(INSTALLED) $(BUNDLE) chromium ## Real TensorBoard in real Chromium
	$(BIN)/pytest tests/e2e

demos: $(INSTALLED) $(BUNDLE) ## Runs every demo and looks at what it logged
	$(BIN)/pytest tests/demo

test-oldest: $(WHEEL) ## The rooms without torch, from the wheel, with the oldest versions promised
	test -x build/oldest/bin/python || $(OLDEST_PYTHON) -m venv build/oldest
	build/oldest/bin/python $(PIP_INSTALL) -c constraints-oldest.txt --force-reinstall --no-deps build/wheel/*.whl
	build/oldest/bin/python $(PIP_INSTALL) -c constraints-oldest.txt tb-shapeplugin setuptools pytest hypothesis
	rm -rf build/oldest-tests && mkdir -p build/oldest-tests
	cp -R tests pyproject.toml build/oldest-tests/
	cd build/oldest-tests && ../oldest/bin/python -m pytest $(wildcard $(TORCHLESS:%=tests/%))

format: $(INSTALLED) $(NODE_INSTALLED) ## Formats both halves and mends what the linters can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	npm run --silent format

bench: $(INSTALLED) ## Prints overhead, sizes and times; asserts nothing
	@for bench in bench/*.py; do echo "== $$bench"; $(PY) $$bench || exit 1; done

clean: ## Takes away what make made, the runs and .venv apart
	rm -rf build dist frontend/dist tb_shapeplugin/serve/static *.egg-info

# --- files ---

# Debian keeps the module that makes environments in a package of its own.
.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer is needed: apt-get install python3"; exit 1; }
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q python3-venv; }
	$(PYTHON) -m venv .venv

$(INSTALLED): .venv/bin/python constraints.txt requirements-dev.txt setup.py pyproject.toml
	$(PY) $(PIP_INSTALL) -c constraints.txt -r requirements-dev.txt
	$(PY) $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	touch $@

$(NODE_INSTALLED): package.json package-lock.json
	@command -v npm >/dev/null || { echo "npm is needed: it comes with Node 20"; exit 1; }
	npm ci --no-audit --no-fund --loglevel=error
	touch $@

$(BUNDLE): $(NODE_INSTALLED) $(BUNDLE_SOURCES)
	npm run --silent build
	touch $@

$(LOGDIR)/.written: $(INSTALLED) $(BUNDLE) $(DEMOS) $(PACKAGE_SOURCES)
	@mkdir -p $(LOGDIR)
	@for demo in $(DEMOS); do echo "== $$demo"; $(PY) $$demo --logdir $(LOGDIR) || exit 1; done
	@touch $@

$(WHEEL): $(INSTALLED) $(BUNDLE) $(PACKAGE_SOURCES) setup.py MANIFEST.in
	rm -rf build/wheel
	$(PY) -m build --no-isolation --outdir build/wheel . >/dev/null
	touch $@

chromium:
	@command -v chromium >/dev/null || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q chromium; }

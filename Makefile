# Everything starts here: `make` prints what there is.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
# True where the page can be built and tested.
NODE := command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null

LOCK := uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test test-long lint format pgtap pytest page page-tests bench bootstrap migrate revert verify \
	status release reference lock clean

help: ## Print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Make .venv with everything in it

demo: $(INSTALLED) ## Real questions about real flights, then a page; ONCE=1 ends by itself
	@if $(NODE); then $(MAKE) --no-print-directory web/dist/index.html; \
	 else echo "The page needs Node 20 or newer, which is not here: the demo runs without it."; fi
	@cd examples/flights && ../../$(BIN)/python -m flights.demo

test: $(INSTALLED) ## All tests and checks, with a summary
	@tools/ensure-test-tools.sh
	@tools/run-tests.sh

test-long: $(INSTALLED) ## What takes half an hour: random steps, crashes, a soak, mutations; ARGS= for pytest's own
	@tools/ensure-test-tools.sh
	@cd py && ../$(BIN)/python -m pytest -c pyproject.toml -m long $(ARGS)

lint: $(INSTALLED) ## Style and types of the Python code
	$(BIN)/ruff check py examples db tools bench
	$(BIN)/ruff format --check py examples db tools bench
	cd py && ../$(BIN)/mypy
	cd py && MYPYPATH=..:.:src ../$(BIN)/mypy --config-file pyproject.toml -p bench
	cd examples/flights && ../../$(BIN)/mypy --config-file ../../py/pyproject.toml flights tests

format: $(INSTALLED) ## Lay the Python code out
	$(BIN)/ruff check --fix py examples db tools bench
	$(BIN)/ruff format py examples db tools bench

pgtap: $(INSTALLED) ## SQL tests: pgTAP through pg_prove; FILES= for some of them
	@cd py && ../$(BIN)/python -m tests.pgtap $(abspath $(FILES))

pytest: $(INSTALLED) ## Python tests; ARGS= for pytest's own
	@cd py && ../$(BIN)/python -m pytest -c pyproject.toml $(ARGS)

page: $(INSTALLED) ## The page and the browser client: checks, tests, a real browser
	@if $(NODE); then $(MAKE) --no-print-directory page-tests; \
	 else echo "The page's tests are left out: they need Node 20 or newer."; fi

page-tests: web/node_modules/.package-lock.json
	cd web && npm run check && npm test && npm run build
	cd py && ../$(BIN)/python -m pytest tests/system/test_page.py

bench: .venv-bench/.installed ## What the ledger costs, beside a floor and other queues; see bench/README.md
	@if $(NODE); then $(MAKE) --no-print-directory bench/node_modules/.package-lock.json; \
	 else echo "graphile-worker is left out: it needs Node 20 or newer."; fi
	@PYTHONPATH=py .venv-bench/bin/python -m bench $(foreach name,ONLY SECONDS ROUNDS MINUTES RUNS HORIZON STREAMS REQUESTS NAME,\
		$(if $($(name)),--$(shell echo $(name) | tr A-Z a-z) "$($(name))"))

bootstrap: $(INSTALLED) ## Make roles and schemas in PLANE_QUEUE_URL: a DBA, once per database
	@$(BIN)/pgplane bootstrap

migrate: $(INSTALLED) ## Migrate PLANE_QUEUE_URL to this tree
	@$(BIN)/pgplane migrate

revert: $(INSTALLED) ## Roll PLANE_QUEUE_URL back; TO= names the last migration to keep
	@$(if $(TO),$(BIN)/pgplane revert --to $(TO),echo "say which migration to keep: make revert TO=0001 (0: none)"; exit 1)

verify: $(INSTALLED) ## Check PLANE_QUEUE_URL against this tree
	@$(BIN)/pgplane verify

status: $(INSTALLED) ## Show what is applied in PLANE_QUEUE_URL
	@$(BIN)/pgplane status

release: $(INSTALLED) ## Freeze the SQL as db/releases/VERSION; VERSION= as in py/pyproject.toml
	@$(if $(VERSION),$(BIN)/python -m pgplane.schema.release $(VERSION),echo "say which: make release VERSION=0.1.0"; exit 1)

reference: $(INSTALLED) ## Write docs/reference.md from the comments of the SQL
	@$(BIN)/python -m pgplane.schema.reference

lock: ## Pin all Python dependencies anew; needs uv
	@command -v uv >/dev/null || { echo "uv is not here: install it with pip"; exit 1; }
	cd py && $(LOCK) --all-extras --group dev --upgrade pyproject.toml -o requirements.lock
	cd py && $(LOCK) --extra edge --extra worker -c requirements.lock pyproject.toml -o requirements.deploy.lock
	cd py && $(LOCK) --extra edge --extra worker --group bench -c requirements.lock pyproject.toml -o requirements.bench.lock

clean: ## Remove all that was made here
	rm -rf .venv .venv-bench .demo .test .tools bench/node_modules web/node_modules web/dist web/dist-client
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf py/.pytest_cache py/.mypy_cache py/.ruff_cache .ruff_cache py/.hypothesis

$(INSTALLED): py/requirements.lock py/pyproject.toml py/hatch_build.py
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not here: install Python 3.11 or newer, or name one: make PYTHON=..."; exit 1; }
	@$(PYTHON) tools/make_venv.py
	@touch $@

.venv-bench/.installed: py/requirements.bench.lock
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install -q --disable-pip-version-check --require-hashes -r $<
	.venv-bench/bin/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e py
	@touch $@

bench/node_modules/.package-lock.json: bench/package.json bench/package-lock.json
	cd bench && npm ci --no-audit --no-fund
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

web/dist/index.html: web/node_modules/.package-lock.json $(shell find web/src web/*.ts -type f 2>/dev/null)
	cd web && npm run build
	@touch $@

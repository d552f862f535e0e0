# `make demo` shows the product, `make test` checks it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint bench eval format clean

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo 'memvault needs Python 3.11, 3.12 or 3.13. Name one: make demo PYTHON=python3.13'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing memvault and what it needs (1.2 GB: a few minutes the first time)"
	$(PIP) -e '.[ner]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -e '.[dev]'
	touch $@

demo: $(VENV)/.installed  ## index an example vault and ask it two questions
	@rm -rf demo-vault
	@$(BIN)/memvault --vault demo-vault init
	@echo; echo 'memvault search "How should seeds be stored, and why?"'; echo
	@$(BIN)/memvault --vault demo-vault search -n 2 "How should seeds be stored, and why?"
	@echo; echo 'memvault search "Who leads the seed library?"'; echo
	@$(BIN)/memvault --vault demo-vault search -n 2 "Who leads the seed library?"
	@echo 'Connect an AI client with one line, such as:'
	@echo '  $(CURDIR)/$(BIN)/memvault --vault "$(CURDIR)/demo-vault" connect claude-desktop'

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.import_circles
	$(BIN)/mypy

# Three processes on two processors, as many tests wait; about 2 GB of memory apiece.
test: lint  ## style, types and every test
	$(BIN)/python -m tests.servers
	$(BIN)/pytest -n 3

bench: $(VENV)/.installed-dev  ## speed and size, as a table and as JSON in .bench/
	$(BIN)/python -m tests.benchmarks

eval: $(VENV)/.installed-dev  ## the question sets in ../shared/eval, when present
	$(BIN)/python -m tests.benchmarks.run_question_sets

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo-vault .bench dist build

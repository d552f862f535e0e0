# Two commands matter: `make demo` shows the product, `make test` checks it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint bench eval format clean

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing memvault and what it needs (PyTorch among it: a few minutes the first time)"
	$(PIP) -e '.[ner]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -e '.[dev]'
	touch $@

demo: $(VENV)/.installed  ## a new vault, indexed and asked
	$(BIN)/python -m memvault.cli.demo

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## style, types and every test
	$(BIN)/pytest

bench: $(VENV)/.installed-dev  ## speed and size, as a table and as JSON in .bench/
	$(BIN)/python -m tests.benchmarks

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .demo-vault .bench dist build

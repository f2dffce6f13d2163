# Every target does its own set-up in a fresh clone: dependencies first, then the build.

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json
VERSION = $(shell node -p 'require("./package.json").version')
PREFIX ?= /usr/local
ROOT = $(abspath $(DESTDIR)/$(PREFIX))

.DEFAULT_GOAL := help
.PHONY: help build demo test lint ci tools nodes bench faults changes conformance versions fuzz api guide package install dist clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

$(INSTALLED): package-lock.json
	@echo 'Installing what the build needs (npm ci), once; this takes up to a minute.' >&2
	@npm ci --no-progress --loglevel=error >&2
	@touch $@

build: $(INSTALLED) ## compile the programs; they are in node_modules/.bin then
	@echo 'Compiling the programs.' >&2
	@npm run --silent build

demo: build ## copy a trading schema between two test servers
	@scripts/demo

# The jars are fetched first, because test files run in parallel and Maven must not.
test: build ## run all tests, also against a real QuestDB if Java and Maven are installed
	@tsc --noEmit -p tsconfig.test.json
	@for version in 9.3.4 9.2.3 9.0.3 8.1.4; do \
	  QUESTDB_VERSION=$$version tsx scripts/questdb.ts --jar >/dev/null || test -z "$$CI" || exit 1; \
	done
	@npm run --silent test; status=$$?; tsx scripts/skipped.ts; exit $$status

lint: $(INSTALLED) ## check format and style
	@npm run --silent lint

# One after the other: tests measure time.
ci: ## run what has to pass before a change is accepted
	@failed=; for target in tools lint demo test nodes; do $(MAKE) --no-print-directory $$target || failed=1; done; test -z "$$failed"

tools: ## install the commands that tests use (on Debian and Ubuntu)
	@scripts/tools

nodes: build ## run the tests that depend on Node on newer versions of it
	@scripts/newer-nodes

bench: build ## compare speed and memory with curl, jq and xargs
	@for tool in curl "$${JQ:-jq}" gnuplot; do \
	  command -v "$$tool" >/dev/null || { echo "make bench needs $$tool" >&2; exit 1; }; \
	done
	@tsx bench/bench.ts

faults: build ## inject every known failure, kill programs at random moments, send a gibibyte through
	@tsx scripts/faults.ts
	@KILLS=100 ROUNDS=5 ava --timeout=20m test/programs/commit-mark.test.ts test/programs/crashing-server.test.ts test/programs/interrupt.test.ts
	@tsx bench/limits.ts

changes: build ## reconcile random schemas on a real server, kill sqlapply on the way, and compare predictions
	@tsx scripts/changes.ts
	@KILLS=100 ava --timeout=60m --match='sqlapply killed*' test/programs/plan-runs.test.ts

conformance: build ## copy the recorded objects of a real server, one by one
	@tsx scripts/conformance.ts

versions: build ## run against real servers from 8.1 to 9.3, and write docs/COMPATIBILITY.md
	@tsx scripts/versions.ts

fuzz: build ## feed random input to the parsers and to real servers, and measure growth
	@tsx scripts/fuzz.ts
	@tsx scripts/fuzz-hidden.ts
	@tsx scripts/growth.ts

api: build ## write docs/API.md from the docstrings
	@tsx scripts/api.ts

guide: build ## run the tutorial, and write its output into GUIDE.md and docs/demo.svg
	@tsx scripts/recording.ts

package: build ## make the package for npm, in dist/
	@echo 'Making the package for npm.' >&2
	@tsx scripts/package.ts

install: package ## install programs, manual pages and completion to PREFIX (/usr/local), below DESTDIR
	@npm install --global --offline --loglevel=error --prefix '$(ROOT)' ./dist/sqlpipe-$(VERSION).tgz >&2
	@cd '$(ROOT)/share' && from=../lib/node_modules/sqlpipe/completions && \
	  mkdir -p bash-completion/completions zsh/site-functions fish/vendor_completions.d && \
	  cp $$from/bash/* bash-completion/completions && \
	  cp $$from/zsh/* zsh/site-functions && \
	  cp $$from/fish/* fish/vendor_completions.d

dist: build ## make all files of a release: for npm, for machines without Node, for Debian
	@rm -rf dist
	@$(MAKE) --no-print-directory package
	@echo 'Making an executable for each platform; this takes some minutes, and downloads Node once.' >&2
	@tsx scripts/executable.ts
	@echo 'Listing the contents of the release.' >&2
	@tsx scripts/sbom.ts
	@cd dist && sha256sum *.tgz *.tar.gz *.deb *.cdx.json > SHA256SUMS

clean: ## remove everything that the other targets made
	@rm -rf node_modules .cache dist packages/*/dist packages/*/*.tsbuildinfo

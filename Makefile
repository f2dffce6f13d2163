# Every target does its own set-up in a fresh clone: dependencies first, then the build.

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help build demo test lint bench faults conformance versions fuzz api dist clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

$(INSTALLED): package-lock.json
	@npm ci --no-progress --loglevel=error >&2
	@touch $@

build: $(INSTALLED) ## compile the programs; they are on node_modules/.bin then
	@npm run --silent build

demo: build ## copy a trading schema between two instances, before your eyes
	@scripts/demo

# The jars are fetched first: test files run side by side, and Maven does not like company.
test: build ## run all tests, against a real QuestDB too where Java and Maven are
	@tsc --noEmit -p tsconfig.test.json
	@for version in 9.3.4 9.2.3 9.0.3 8.1.4; do \
	  QUESTDB_VERSION=$$version tsx scripts/questdb.ts --jar >/dev/null || test -z "$$CI" || exit 1; \
	done
	@npm run --silent test

lint: $(INSTALLED) ## check format and style
	@npm run --silent lint

bench: build ## measure side by side with curl, jq and xargs
	@for tool in curl "$${JQ:-jq}" gnuplot; do \
	  command -v "$$tool" >/dev/null || { echo "make bench needs $$tool" >&2; exit 1; }; \
	done
	@tsx bench/bench.ts

faults: build ## try every way a source or a target can fail, kill all by the hundreds, pour a gibibyte through
	@tsx scripts/faults.ts
	@KILLS=100 ROUNDS=5 ava --timeout=20m test/commit-mark.test.ts test/crash.test.ts test/interrupt.test.ts
	@tsx bench/limits.ts

conformance: build ## copy the recorded objects of a real server, one by one
	@tsx scripts/conformance.ts

versions: build ## run against real servers from 8.1 on, and write docs/COMPATIBILITY.md
	@tsx scripts/versions.ts

fuzz: build ## feed the parsers nonsense for a while, real servers what comments hide, and all inputs that grow
	@tsx scripts/fuzz.ts
	@tsx scripts/fuzz-hidden.ts
	@tsx scripts/growth.ts

api: $(INSTALLED) ## write docs/API.md from the docstrings
	@cd packages/api && npm exec --yes --loglevel=error --package=typedoc@0.28.20 \
	  --package=typedoc-plugin-markdown@4.14.1 --package=typescript@6.0.3 -- typedoc --logLevel Warn

dist: build ## make all files of a release: for npm, for machines without Node, for Debian
	@rm -rf dist
	@tsx scripts/package.ts
	@tsx scripts/executable.ts
	@tsx scripts/sbom.ts
	@cd dist && sha256sum *.tgz *.tar.gz *.deb *.cdx.json > SHA256SUMS

clean: ## remove what the other targets have made
	@rm -rf node_modules .cache dist packages/*/dist packages/*/*.tsbuildinfo

# Every target does its own set-up in a fresh clone: dependencies first, then the build.

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json
VERSION = $(shell node -p 'require("./package.json").version')
PREFIX ?= /usr/local
ROOT = $(abspath $(DESTDIR)/$(PREFIX))

.DEFAULT_GOAL := help
.PHONY: help build types demo test exhaustive newer-nodes test-all lint lint-yaml image ci tools bench faults changes conformance versions fuzz api guide package install dist clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

$(INSTALLED): package-lock.json
	@echo 'Installing what the build needs (npm ci), once; this takes up to a minute.' >&2
	@npm ci --no-progress --loglevel=error >&2
	@touch $@

build: $(INSTALLED) ## compile the programs; they are in node_modules/.bin then
	@echo 'Compiling the programs.' >&2
	@npm run --silent build

demo: build ## copy a trading schema between two test servers
	@scripts/demo

types: build
	@tsc --noEmit -p tsconfig.test.json

test: FILES := 'test/{packages,programs,servers}/**'
test: QUESTDB := 9.3.4
test: types ## run the tests, also against a real QuestDB if Java and Maven are installed

exhaustive: FILES := 'test/{docs,release,exhaustive}/**'
exhaustive: QUESTDB := 9.3.4 9.3.0 9.2.3 9.0.3 8.1.4
exhaustive: types ## run the tests of documents and releases, and those that take longest: every fault, kills, random pairs, old versions

# The jars are fetched first, because test files run in parallel and Maven must not.
test exhaustive:
	@for version in $(QUESTDB); do \
	  QUESTDB_VERSION=$$version tsx scripts/questdb.ts --jar >/dev/null || test -z "$$CI" || exit 1; \
	done
	@ava $(FILES); status=$$?; tsx scripts/skipped.ts; exit $$status

# What Node itself does for the programs: HTTP and TLS, time and signals; on the oldest also processes, streams, files, terminals.
NODE_TESTS := $(patsubst %,test/%.test.ts,packages/instance-connection packages/instance-failures servers/instance-questdb \
  $(addprefix programs/,exit-status interrupt timeouts tls wait))
STREAM_TESTS := $(patsubst %,test/%.test.ts,packages/instance packages/records \
  $(addprefix programs/,common-options output pipelines stream-option terminal))
NEWER_NODES := node-22 node-24 node-26
.PHONY: $(NEWER_NODES)

newer-nodes: $(NEWER_NODES) ## run the tests of what Node does for the programs on Node 22, 24 and 26

node-22: TESTS := $(NODE_TESTS) $(STREAM_TESTS)
node-24 node-26: TESTS := $(NODE_TESTS)
$(NEWER_NODES): node-%: build $(NODE_TESTS) $(STREAM_TESTS)
	@echo 'Node $*'
	@npm exec --yes --package="node-$$(node -p 'process.platform + "-" + process.arch')@$*" -- sh -c ' \
	  case $$(node --version) in v$*.*) npm test --silent -- $(TESTS) ;; *) echo "this is not Node $*"; exit 1 ;; esac'

lint: $(INSTALLED) ## check format and style
	@npm run --silent lint

# One after the other: tests measure time.
test-all: TARGETS := test exhaustive newer-nodes
test-all: ## run all tests, some also on newer Nodes
ci: TARGETS := tools lint demo test-all
ci: ## run what has to pass before a change is accepted
test-all ci:
	@failed=; for target in $(TARGETS); do $(MAKE) --no-print-directory $$target || failed=1; done; test -z "$$failed"

lint-yaml: ## check the workflows and the examples for Kubernetes (with Go)
	@go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml examples/github-*.yaml
	@go run github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0 -strict -summary examples/kubernetes*.yaml

image: export COMPOSE_FILE := examples/compose.yaml
image: ## run the example for Compose twice (with Docker)
	@docker compose up --build --detach
	@docker compose wait schema && docker compose run --rm schema 2>&1 | grep ' 3 skipped$$' || { docker compose logs; exit 1; }

tools: $(INSTALLED) ## install the commands that tests use and that are missing (Debian, Ubuntu)
	@packages=$$(tsx scripts/skipped.ts --packages); test -z "$$packages" || { \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get -qq update && $$sudo apt-get -qq -y install $$packages >/dev/null; \
	}

bench: build ## compare speed and memory with curl, jq and xargs
	@for tool in curl "$${JQ:-jq}" gnuplot; do \
	  command -v "$$tool" >/dev/null || { echo "make bench needs $$tool" >&2; exit 1; }; \
	done
	@tsx bench/bench.ts

faults: build ## inject every known failure, kill programs at random moments, send a gibibyte through
	@tsx scripts/faults.ts
	@SEED=$${SEED:-$$(date +%s)} KILLS=100 ROUNDS=5 ava --timeout=20m test/exhaustive/commit-mark.test.ts test/exhaustive/crashing-server.test.ts test/programs/interrupt.test.ts
	@tsx bench/limits.ts

changes: build ## reconcile random schemas on a real server, kill sqlapply on the way, and compare predictions
	@tsx scripts/changes.ts
	@SEED=$${SEED:-$$(date +%s)} KILLS=100 ava --timeout=60m test/exhaustive/killed-plans.test.ts

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
	@scripts/executable linux-x64 linux-arm64
	@echo 'Listing the contents of the release.' >&2
	@scripts/sbom > dist/sqlpipe-$(VERSION).cdx.json
	@cd dist && sha256sum *.tgz *.tar.gz *.deb *.cdx.json > SHA256SUMS

clean: ## remove everything that the other targets made
	@rm -rf node_modules .cache dist packages/*/dist packages/*/*.tsbuildinfo

# The commands of CONTRIBUTING.md. "make test" is what CI runs.

GO       ?= go
# Binaries that tests and lint need; built once from pinned modules.
BIN      := $(CURDIR)/bin
TOOLS    := -modfile=tools.mod

.PHONY: test lint fmt build unit race seeds small fuzz bench deps clean

# Everything that must hold before a change lands.
test: deps lint build race seeds small
	@echo "all tests passed"

# Debian packages, npm modules and servers that tests run as real processes.
deps:
	tools/install-test-deps.sh

build:
	$(GO) build ./...
	$(GO) build -o $(BIN)/stardust ./cmd/stardust

lint: $(BIN)/gofumpt $(BIN)/staticcheck
	@out=$$($(BIN)/gofumpt -l . | grep -v '/internal/fb/' || true); \
	  if [ -n "$$out" ]; then echo "gofumpt differs:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	GOARCH=386 CGO_ENABLED=0 $(GO) vet . ./internal/... ./objectstore/... ./mirror/... ./slatedb/...
	$(BIN)/staticcheck ./...

$(BIN)/gofumpt: tools.mod tools.sum
	$(GO) build $(TOOLS) -o $@ mvdan.cc/gofumpt

$(BIN)/staticcheck: tools.mod tools.sum
	$(GO) build $(TOOLS) -o $@ honnef.co/go/tools/cmd/staticcheck

fmt: $(BIN)/gofumpt
	$(BIN)/gofumpt -w $$(git ls-files '*.go' | grep -v '/internal/fb/')

unit:
	$(GO) test ./...

race:
	$(GO) test -race -timeout 30m ./...

# The simulations again without the race detector, which slows them down: a few
# thousand seeds.
seeds:
	$(GO) test ./mirror/simtest ./slatedb

# What has no need of 64 bits, on 32.
small:
	GOARCH=386 CGO_ENABLED=0 $(GO) test -short ./internal/dust ./internal/heap ./internal/catalog ./objectstore ./objectstore/memory ./slatedb/internal/...
	GOARCH=386 CGO_ENABLED=0 $(GO) test -run 'Spec|Refused|Payload|Revision' .

# A minute for every fuzzer.
fuzz:
	tools/fuzz.sh 60s

bench:
	$(GO) run ./bench

clean:
	rm -rf $(BIN)

# The commands of CONTRIBUTING.md. "make test" is what CI runs.

GO       ?= go
# Binaries that tests and lint need; built once from pinned modules.
BIN      := $(CURDIR)/bin
TOOLS    := -modfile=tools.mod

.PHONY: test check lint fmt build unit race fuzz bench deps clean

# Everything that must hold before a change lands.
test: deps lint build race
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

# A minute for every fuzzer.
fuzz:
	tools/fuzz.sh 60s

bench:
	$(GO) run ./bench

clean:
	rm -rf $(BIN)

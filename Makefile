# The commands of CONTRIBUTING.md. "make test" is what CI runs.

GO       ?= go
# Programs that tests and lint need, built once from pinned modules.
BIN      := $(CURDIR)/bin

.PHONY: test lint fmt build unit race serial seeds small fuzz bench deps clean install library release

# Everything that must hold before a change lands.
# It names what the machine lacks before the tests and again at the end.
test: deps
	@mkdir -p $(BIN)
	@$(GO) run ./tools/needs >$(BIN)/needs.txt; cat $(BIN)/needs.txt
	@$(MAKE) --no-print-directory lint build race serial small; status=$$?; \
	  echo; cat $(BIN)/needs.txt; \
	  if [ $$status = 0 ]; then echo "all tests passed"; fi; exit $$status

# Debian packages, npm modules and servers that tests run as real processes.
deps:
	tools/install-test-deps.sh

build:
	$(GO) build ./...
	$(GO) build -o $(BIN)/stardust ./cmd/stardust

# golangci-lint has vet, staticcheck and gofumpt in it: .golangci.yml.
lint: $(BIN)/golangci-lint
	$(BIN)/golangci-lint run ./...
	GOARCH=386 CGO_ENABLED=0 $(GO) vet . ./internal/... ./objectstore/... ./mirror/... ./slatedb/...

fmt: $(BIN)/golangci-lint
	$(BIN)/golangci-lint fmt ./...

$(BIN)/golangci-lint: tools.mod tools.sum
	$(GO) build -modfile=tools.mod -ldflags='-s -w' -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# What takes long or runs other programs is left out.
PEERS := versitygw,node,typescript,rclone,cadaver,slatedb,aws-js,aws,s3cmd,flatc,chromium,playwright,fake-gcs,azurite,cc,g++,clang,valgrind
unit:
	STARDUST_WITHOUT=$(PEERS) $(GO) test -short ./...

# Every test runs once, under the race detector or without. Without run those
# that it would only slow down: one goroutine's arithmetic, trials that damage a
# file byte by byte, programs in other languages, and simulations, whose schedule
# is their own. Those of our packages keep the invariants that the race detector
# turns on.
SERIAL_PACKAGES := ./cmd/libstardust ./e2e/... ./examples/... ./internal/chunk ./internal/dust ./internal/lint ./mirror/simtest
DAMAGE_TESTS    := TestACopyOverWholeSessionsIsRefusedOrRight|TestSalvageBringsBackWhatIsNotHit|TestSalvageOfWhatIsLeft|TestDamageIsReportedAndNeverShown|TestWalksAndExportsGoOnPastDamage|TestEveryCrashImageHoldsWhatWasAcknowledged|TestCrashImagesCatchAMissingSync|TestAfterAFailedOperationTheDatabaseGoesOn|TestDamageIsNeverReadAsData|TestAtRestTheFileIsAlone|TestEveryCrashKeepsWhatWasAcknowledged|TestAfterAFaultTheSessionGoesOn
SERIAL_TESTS    := ^(TestAttributesHaveALimit|TestTenThousandLevelsOfDirectories|TestEverySSTReadIsServedLocallyAndTheDiskStaysBounded|$(DAMAGE_TESTS))$$

# Without a C compiler, which the race detector builds with, the tests run all the same.
race:
	@if $(GO) run ./tools/needs race; then flag=-race; else flag=; fi; \
	  $(GO) test $$flag -timeout 30m -skip '$(SERIAL_TESTS)' $$($(GO) list ./... | grep -vxF "$$($(GO) list $(SERIAL_PACKAGES))")

serial:
	$(GO) test -timeout 30m $(SERIAL_PACKAGES)
	$(GO) test -timeout 30m -tags invariants -run '$(SERIAL_TESTS)' . ./internal/container ./slatedb

# The simulations' many seeds: about an hour.
seeds:
	STARDUST_LONG=1 $(GO) test -timeout 3h ./mirror/simtest ./slatedb
	STARDUST_LONG=1 $(GO) test -timeout 1h -run '^(TestSimulation|TestSchedulesOfFiles)$$' -v ./bucketdb

# What has no need of 64 bits, on 32.
small:
	tools/test-32bit.sh

# A minute for every fuzzer.
fuzz:
	tools/fuzz.sh 60s

bench:
	$(GO) run ./bench

# The C library, into build/.
SONAME   := libstardust.so.1
ABI      := $(shell sed -n 's/^.define STARDUST_ABI_VERSION //p' cmd/libstardust/stardust.h)
library:
	$(GO) build -buildmode=c-shared -ldflags=-extldflags=-Wl,-soname,$(SONAME) -o build/$(SONAME) ./cmd/libstardust
	$(GO) build -buildmode=c-archive -o build/libstardust.a ./cmd/libstardust
	ln -sf $(SONAME) build/libstardust.so

# The program with its man pages and completions, and the C library with its
# header and pkg-config file. DESTDIR is for packages.
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
install: library
	$(GO) build -o build/stardust ./cmd/stardust
	$(GO) build -tags man -o build/stardust-man ./cmd/stardust
	rm -rf build/man && build/stardust-man man build/man
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(INCLUDEDIR)" "$(DESTDIR)$(MANDIR)/man1" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" "$(DESTDIR)$(PREFIX)/share/zsh/site-functions"
	install -m 755 build/stardust "$(DESTDIR)$(BINDIR)/stardust"
	install -m 755 build/$(SONAME) "$(DESTDIR)$(LIBDIR)/$(SONAME)"
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/libstardust.so"
	install -m 644 build/libstardust.a "$(DESTDIR)$(LIBDIR)/libstardust.a"
	install -m 644 cmd/libstardust/stardust.h bindings/cpp/stardust.hpp "$(DESTDIR)$(INCLUDEDIR)/"
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(ABI)|' cmd/libstardust/stardust.pc.in >build/stardust.pc
	install -m 644 build/stardust.pc "$(DESTDIR)$(LIBDIR)/pkgconfig/stardust.pc"
	install -m 644 build/man/*.1 "$(DESTDIR)$(MANDIR)/man1/"
	build/stardust completion bash >"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/stardust"
	build/stardust completion zsh >"$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_stardust"

# Static programs for every platform, with man pages, completions, checksums and
# bills of materials, into dist/.
release:
	tools/release.sh

clean:
	rm -rf $(BIN) build dist

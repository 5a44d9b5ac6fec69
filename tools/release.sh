#!/bin/sh
# Builds what a release consists of, into dist/:
#
#   stardust_VERSION_OS_ARCH.tar.gz   the program, static, with its licence,
#                                     man pages and completions (.zip for Windows)
#   stardust_VERSION_OS_ARCH.cdx.json its bill of materials
#   SHA256SUMS
#
# The version is that of the commit, as Go notes it in the program. The same
# commit gives the same bytes. TARGETS names other platforms than all.
set -eu
cd "$(dirname -- "$0")/.."
root=$PWD
targets=${TARGETS:-"linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CGO_ENABLED=0
unset GOFLAGS GOOS GOARCH
for need in git tar gzip sha256sum; do
	command -v "$need" >/dev/null || { echo "release: $need is missing" >&2; exit 1; }
done

rm -rf dist
mkdir -p dist/stage/extra
build() { # GOOS GOARCH output
	GOOS=$1 GOARCH=$2 ${GO:-go} build -trimpath -buildvcs=true -ldflags='-s -w' -o "$3" ./cmd/stardust
}
${GO:-go} build -C tools/sbom -trimpath -buildvcs=false -o "$root/dist/stage/sbom" .
build "$(${GO:-go} env GOHOSTOS)" "$(${GO:-go} env GOHOSTARCH)" dist/stage/host
version=$(dist/stage/host version | sed -n 's/^stardust //p')
case $version in
'' | *'('*) echo "release: Go noted no version: build from a clone, not from a linked work tree" >&2; exit 1 ;;
esac

${GO:-go} build -tags man -trimpath -buildvcs=false -o dist/stage/man ./cmd/stardust
dist/stage/man man dist/stage/extra/man
mkdir dist/stage/extra/completions
for shell in bash zsh fish powershell; do
	dist/stage/host completion "$shell" >"dist/stage/extra/completions/stardust.$shell"
done

for target in $targets; do
	os=${target%/*} arch=${target#*/}
	name=stardust_${version}_${os}_${arch}
	program=stardust
	[ "$os" != windows ] || program=stardust.exe
	folder=dist/stage/$name
	mkdir "$folder"
	build "$os" "$arch" "$folder/$program"
	dist/stage/sbom "$folder/$program" >"dist/$name.cdx.json"
	cp LICENSE README.md CHANGELOG.md "$folder/"
	cp -r dist/stage/extra/. "$folder/"
	find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	if [ "$os" = windows ] && command -v zip >/dev/null; then
		(cd dist/stage && find "$name" | LC_ALL=C sort | TZ=UTC zip -qX -@ "../$name.zip")
	else
		tar -C dist/stage --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -cf - "$name" | gzip -9n >"dist/$name.tar.gz"
	fi
	echo "$name: $(wc -c <"$folder/$program") bytes"
done
rm -rf dist/stage
(cd dist && sha256sum -- * >SHA256SUMS)

// Command sbom writes a bill of materials of a Go program, in CycloneDX's JSON,
// from what the toolchain noted in it:
//
//	sbom dist/stardust >stardust.cdx.json
//
// It is a module of its own, so that its library stays out of the project's.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("name one program")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	bom, err := materials(info)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(args[0]), err)
	}
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// materials lists the main module, the modules that it was built from and Go's
// standard library.
func materials(info *buildinfo.BuildInfo) (*cdx.BOM, error) {
	program, err := component(&info.Main, cdx.ComponentTypeApplication)
	if err != nil {
		return nil, err
	}
	std := cdx.Component{
		Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	std.BOMRef = std.PackageURL
	components, refs := []cdx.Component{std}, []string{std.BOMRef}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		c, err := component(dep, cdx.ComponentTypeLibrary)
		if err != nil {
			return nil, err
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bom, nil
}

func component(module *debug.Module, kind cdx.ComponentType) (cdx.Component, error) {
	c := cdx.Component{Type: kind, Name: module.Path, Version: module.Version, PackageURL: "pkg:golang/" + module.Path}
	if module.Version != "" {
		c.PackageURL += "@" + url.PathEscape(module.Version)
	}
	c.BOMRef = c.PackageURL
	if module.Sum == "" {
		return c, nil // the program's own module
	}
	// go.sum's h1 is the SHA-256 of a module's files and their hashes.
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
	if err != nil {
		return c, fmt.Errorf("sum of %s: %w", module.Path, err)
	}
	c.Properties = &[]cdx.Property{{Name: "golang:h1", Value: hex.EncodeToString(sum)}}
	return c, nil
}

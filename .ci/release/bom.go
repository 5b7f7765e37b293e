package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// writeBOM writes the bill of materials of a binary, as CycloneDX JSON: the modules and the Go
// release that its build information names.
func writeBOM(s source, b binary, out string) (err error) {
	content, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(b.path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	name := "pkg:generic/sensegate@" + s.version
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.Nil, sum[:]).URN()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: s.date.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: name, Type: cyclonedx.ComponentTypeApplication, Name: "sensegate", Version: s.version, PackageURL: name,
			Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
			Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
			Properties: &[]cyclonedx.Property{{Name: "commit", Value: s.commit}, {Name: "target", Value: "linux/" + b.name}},
		},
	}
	components := []cyclonedx.Component{library("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, library(module.Path, module.Version))
	}
	var parts []string
	for _, c := range components {
		parts = append(parts, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: name, Dependencies: &parts}}
	file, err := os.Create(filepath.Join(out, filepath.Base(b.path)+".cdx.json"))
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	return cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// library is a Go module.
func library(path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}

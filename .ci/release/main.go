// Command release builds everything that is given to people, from a clone, without root:
//
//	go -C .ci/release run . -out DIR
//
// Debian and OpenWrt packages, a container image, archives, plain binaries, a bill of materials of each
// binary, SHA-256 sums and, with a key, signatures. Two runs on the same commit write the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := filepath.Abs("../..") // this module lies in .ci/release
	if err != nil {
		return err
	}
	out := flag.String("out", filepath.Join(root, ".ci/bin/release"), "directory for what is built; it must be empty or missing")
	version := flag.String("version", "", "version such as 1.2.3 (default: the tag of the commit, else 0.0.0 with its time)")
	keyFile := flag.String("key", "", "minisign secret key to sign with; its password is in "+passwordVariable)
	publicKey := flag.String("public-key", "", "minisign public key to build in, to repeat a build without the secret key")
	newKey := flag.String("new-key", "", "write a new secret key to this file and the public key beside it, and build nothing")
	flag.Parse()

	if *newKey != "" {
		return makeKey(root, *newKey)
	}
	source, err := readSource(root, *version)
	if err != nil {
		return err
	}
	var key *signer
	if *keyFile != "" {
		if key, err = readKey(*keyFile); err != nil {
			return err
		}
		*publicKey = key.public
	}
	if err := makeAll(source, targets, *out, key, *publicKey); err != nil {
		return err
	}
	if key == nil {
		fmt.Fprintln(os.Stderr, "nothing is signed: no -key")
	}
	return nil
}

// makeAll writes every artefact of the targets into the directory out. A nil key signs nothing.
func makeAll(s source, targets []target, out string, key *signer, publicKey string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if entries, err := os.ReadDir(out); err != nil {
		return err
	} else if len(entries) > 0 {
		return fmt.Errorf("%s is not empty", out)
	}
	var binaries []binary
	for _, t := range targets {
		b, err := build(s, t, out, publicKey)
		if err != nil {
			return err
		}
		binaries = append(binaries, b)
	}
	for _, b := range binaries {
		if err := errors.Join(writeBOM(s, b, out), writeArchive(s, b, out), writePackages(s, b, out)); err != nil {
			return err
		}
	}
	if err := writeImage(s, binaries, filepath.Join(out, "sensegate-"+s.version+"-oci.tar")); err != nil {
		return err
	}
	if err := writeSums(out); err != nil {
		return err
	}
	if key == nil {
		return nil
	}
	for _, b := range binaries {
		if err := key.sign(s, b.path); err != nil {
			return err
		}
	}
	return key.sign(s, filepath.Join(out, sumsFile))
}

package csar

import (
	"crypto"
	_ "crypto/sha256" // digests of the files, SHA-224 and SHA-256
	_ "crypto/sha512" // digests of the files, SHA-384 and SHA-512
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// algorithms are the digests that a manifest may use. SOL 004 has SHA-256 and SHA-512;
// packages for Tacker also use the other two.
var algorithms = map[string]crypto.Hash{
	"SHA-224": crypto.SHA224,
	"SHA-256": crypto.SHA256,
	"SHA-384": crypto.SHA384,
	"SHA-512": crypto.SHA512,
}

// tooManySources is the error for a list of more files than a package may hold.
var tooManySources = &budget.Error{Noun: "files", Max: maxSources}

const algorithmNames = "SHA-224, SHA-256, SHA-384, SHA-512"

// canonicalAlgorithm accepts any case, and the name with or without its dash.
func canonicalAlgorithm(name string) (string, bool) {
	upper := strings.ToUpper(name)
	if digits, ok := strings.CutPrefix(upper, "SHA"); ok {
		upper = "SHA-" + strings.TrimLeft(digits, "-_")
	}
	_, ok := algorithms[upper]
	return upper, ok
}

// sourceKeys are keys of a block.
type sourceKeys uint8

var sourceKey = map[string]sourceKeys{"algorithm": 1, "hash": 2, "signature": 4, "certificate": 8, "content-type": 16}

func (k sourceKeys) has(key string) bool { return k&sourceKey[key] != 0 }

// doubled makes room for as many again, since a list can be long.
func doubled(list []Source) []Source {
	if len(list) == cap(list) {
		return slices.Grow(list, max(len(list), 16))
	}
	return list
}

// setPath takes the value of Source or Name. Only http and https stand for a file that is not
// in the package; other schemes could reach into the machine that reads the package.
func (s *Source) setPath(fs *findings, f field) {
	if f.value == "" {
		fs.err(f.line, f.valueCol, fmt.Sprintf("%s has no value", f.key), "write the path of a file of the package")
		return
	}
	if scheme, _, ok := strings.Cut(f.value, "://"); ok {
		u, err := url.Parse(f.value)
		switch {
		case err != nil || u.Host == "" && (u.Scheme == "http" || u.Scheme == "https"):
			//findings:says write it as https://host/path
			fs.err(f.line, f.valueCol, fmt.Sprintf("%q is not a valid URL", f.value), "")
		case u.Scheme != "http" && u.Scheme != "https":
			fs.err(f.line, f.valueCol, fmt.Sprintf("URL scheme %q is not allowed", scheme), "an external file has an http or https URL")
		default:
			s.Path, s.External = f.value, true
		}
		return
	}
	s.Path = cleanPath(fs, f)
}

// cleanPath returns the value as a clean path in the package, or "" after a finding.
func cleanPath(fs *findings, f field) string {
	name, err := cleanName(f.value)
	if err != nil {
		//findings:says write it from the root of the package, with slashes
		fs.err(f.line, f.valueCol, fmt.Sprintf("%q is not a path in the package", f.value), err.Error())
		return ""
	}
	return name
}

// set takes one of the other keys of a block; noun is the key that begins the block.
func (s *Source) set(fs *findings, noun, key string, f field) {
	if s.given.has(key) {
		fs.err(f.line, f.keyCol, fmt.Sprintf("%s is given twice for one %s", f.key, noun), fmt.Sprintf("the %s is on line %d", noun, s.Line))
		return
	}
	s.given |= sourceKey[key]
	if f.value == "" {
		//findings:says give it one, or remove the line
		fs.err(f.line, f.valueCol, fmt.Sprintf("%s has no value", f.key), "")
		return
	}
	switch key {
	case "algorithm":
		s.algorithmLine, s.algorithmCol = f.line, f.valueCol
		name, ok := canonicalAlgorithm(f.value)
		if !ok {
			fs.err(f.line, f.valueCol, fmt.Sprintf("digest algorithm %q is not supported", f.value), "use one of "+algorithmNames)
			return
		}
		s.Algorithm, s.declared = name, name
	case "hash":
		s.hashLine, s.hashCol = f.line, f.valueCol
		s.Hash = strings.ToLower(f.value)
	case "signature":
		s.signatureLine, s.signatureCol = f.line, f.valueCol
		s.Signature = cleanPath(fs, f)
	case "certificate":
		s.certLine, s.certCol = f.line, f.valueCol
		s.Certificate = cleanPath(fs, f)
	case "content-type":
		s.ContentType = f.value
	}
}

// check looks at a whole block. An unusable digest is returned and taken away, so that it is reported once and not again as a mismatch.
func (s *Source) check(fs *findings) (malformed damaged, bad bool) {
	switch {
	case s.given.has("hash") && !s.given.has("algorithm"):
		fs.err(s.hashLine, s.hashCol, fmt.Sprintf("Hash of %q without Algorithm", s.Path), "add an Algorithm line before it, one of "+algorithmNames)
		s.Hash = ""
	case s.given.has("algorithm") && !s.given.has("hash"):
		fs.err(s.algorithmLine, s.algorithmCol, fmt.Sprintf("Algorithm of %q without Hash", s.Path), "add a Hash line after it")
		s.Algorithm = ""
	case s.Algorithm == "" || s.Hash == "":
		s.Algorithm, s.Hash = "", ""
	default:
		want := algorithms[s.Algorithm].Size() * 2
		if _, err := hex.DecodeString(s.Hash); err != nil || len(s.Hash) != want {
			malformed, bad = damaged{
				at: place{file: fs.file, line: s.hashLine, column: s.hashCol}, path: s.Path,
				summary: fmt.Sprintf("Hash of %q is not a %s digest", s.Path, s.Algorithm), detail: fmt.Sprintf("it must have %d hexadecimal digits", want),
			}, true
			s.Algorithm, s.Hash = "", ""
		}
	}
	if s.given.has("certificate") && !s.given.has("signature") {
		fs.err(s.certLine, s.certCol, fmt.Sprintf("Certificate of %q without Signature", s.Path), "add a Signature line before it")
	}
	return malformed, bad
}

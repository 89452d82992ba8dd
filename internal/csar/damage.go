package csar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// damagePolicy says what is made of a wrong digest and of a missing file.
type damagePolicy struct {
	severity vnfm.Severity
	// silent reports nothing.
	silent bool
	// hint says how to go on without the check; empty when nothing does.
	hint string
}

// damage is the policy for the files of the package. A signature that is required would mean nothing if the content need not match
// what was signed.
func (r *reader) damage() damagePolicy {
	switch {
	case r.signatureRequired():
		return damagePolicy{}
	case r.o.integrity() == IntegrityIgnore:
		return damagePolicy{severity: vnfm.SeverityWarning, silent: true}
	case r.o.integrity() == IntegrityWarn:
		return damagePolicy{severity: vnfm.SeverityWarning}
	}
	return damagePolicy{hint: `; integrity = "warn" goes on without it`}
}

// damageKind is what several findings of one kind have in common.
type damageKind struct{ many, advice string }

// hashAgain is what the author of a package does after a change.
const hashAgain = `in a package of your own, "terraform-provider-vnf package hash DIRECTORY" writes the digests again`

var (
	wrongDigest   = damageKind{"do not have the declared digest", "the files were changed after the manifest was written, or damaged; " + hashAgain}
	missingFile   = damageKind{"are listed and not in the package", "add the files, or correct the paths"}
	malformedHash = damageKind{"have a Hash that is not a digest", "a SHA-256 digest has 64 hexadecimal digits"}
)

// damaged is one finding: at the place of the digest or path.
type damaged struct {
	at                    place
	path, summary, detail string
}

// report adds findings of one kind, one problem for each file that lists them.
func (p damagePolicy) report(k damageKind, list []damaged, add func(s vnfm.Severity, at place, summary, detail string)) {
	if p.silent {
		return
	}
	for len(list) > 0 {
		file := list[0].at.file
		others := slices.IndexFunc(list, func(d damaged) bool { return d.at.file != file })
		if others < 0 {
			others = len(list)
		}
		d := k.merge(list[:others])
		add(p.severity, d.at, d.summary, d.detail+p.hint)
		list = list[others:]
	}
}

// merge makes one finding of several, which names the first files.
func (k damageKind) merge(list []damaged) damaged {
	if len(list) == 1 {
		return list[0]
	}
	var names []string
	for _, d := range list[:min(len(list), namedFiles)] {
		names = append(names, fmt.Sprintf("%s (line %d)", d.path, d.at.line))
	}
	if len(list) > namedFiles {
		names = append(names, "...")
	}
	return damaged{at: list[0].at, summary: fmt.Sprintf("%s %s: %s", countOf(len(list)), k.many, strings.Join(names, ", ")), detail: k.advice}
}

// checkSources looks at all blocks of a file.
func (fs *findings) checkSources(p damagePolicy, lists ...[]Source) {
	var malformed []damaged
	for _, list := range lists {
		for i := range list {
			if d, bad := list[i].check(fs); bad {
				malformed = append(malformed, d)
			}
		}
	}
	p.report(malformedHash, malformed, func(s vnfm.Severity, at place, summary, detail string) {
		fs.add(s, at.line, at.column, summary, detail)
	})
}

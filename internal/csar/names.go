package csar

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// maxNameBytes bounds the name of a file. Linux takes paths of 4,096 bytes; the longest in packages have 200.
	maxNameBytes = 1024
	// maxNameSegments bounds how deep a file lies.
	maxNameSegments = 64
)

// cleanName checks the name of a file as an archive gives it and returns it relative,
// slash-separated and clean. A name that another tool could resolve to a place outside
// the package, or to another name than the one shown, is refused.
func cleanName(name string) (string, error) {
	switch {
	case name == "":
		return "", fmt.Errorf("the name is empty")
	case len(name) > maxNameBytes:
		return "", fmt.Errorf("the name has %d bytes, more than %d", len(name), maxNameBytes)
	case strings.Count(name, "/") >= maxNameSegments:
		return "", fmt.Errorf("the name has more than %d directories", maxNameSegments)
	case !utf8.ValidString(name):
		return "", fmt.Errorf("the name is not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", fmt.Errorf("the name holds a control character")
	case strings.ContainsFunc(name, invisible):
		return "", fmt.Errorf("the name holds an invisible character, or one that changes the direction of the text")
	case strings.Contains(name, `\`):
		return "", fmt.Errorf("the name holds a backslash; names in a package are separated by slashes")
	case strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("the name is an absolute path")
	case len(name) >= 2 && name[1] == ':' && isLetter(name[0]):
		return "", fmt.Errorf("the name is an absolute path with a drive letter")
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == ".." {
			return "", fmt.Errorf("the name leaves the package with %q", "..")
		}
	}
	clean := path.Clean(name)
	if clean == "." {
		return "", fmt.Errorf("the name is empty")
	}
	return clean, nil
}

// invisible reports the characters that are instructions to who writes a text: directions, joiners, spaces without
// width, ends of lines and paragraphs.
func invisible(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }

func isLetter(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// nameSet finds names that collide: equal, equal to a file system that tells fewer names apart, or one being a
// directory of the other.
type nameSet struct {
	// folded maps the folded name of a file to the name.
	folded map[string]string
	// dirs maps the folded name of a directory to one file in it.
	dirs map[string]string
	fold cases.Caser
}

func newNameSet() *nameSet {
	return &nameSet{folded: map[string]string{}, dirs: map[string]string{}, fold: cases.Fold()}
}

// key is what names have in common that are one on macOS, which tells neither case nor composed from decomposed
// letters, or on Windows, which takes away dots and spaces at an end.
func (s *nameSet) key(name string) string {
	key := norm.NFC.String(s.fold.String(norm.NFD.String(name)))
	if !strings.ContainsAny(key, ". ") {
		return key
	}
	segments := strings.Split(key, "/")
	for i, segment := range segments {
		if cut := strings.TrimRight(segment, ". "); cut != "" {
			segments[i] = cut
		}
	}
	return strings.Join(segments, "/")
}

// add registers a clean name and says with what it collides.
func (s *nameSet) add(name string) error {
	key := s.key(name)
	if other, ok := s.folded[key]; ok {
		if other == name {
			return fmt.Errorf("the name is given twice")
		}
		if strings.EqualFold(name, other) {
			return fmt.Errorf("the name differs only by case from %q", other)
		}
		return fmt.Errorf("the name equals %q on some systems: it differs only in the composition of letters, or in dots and spaces at an end", other)
	}
	if inside, ok := s.dirs[key]; ok {
		return fmt.Errorf("the name is a file and, in %q, a directory", inside)
	}
	s.folded[key] = name
	for d := path.Dir(key); d != "."; d = path.Dir(d) {
		if other, ok := s.folded[d]; ok {
			return fmt.Errorf("the name lies in %q, which is a file", other)
		}
		if _, ok := s.dirs[d]; ok {
			continue
		}
		s.dirs[d] = name
	}
	return nil
}

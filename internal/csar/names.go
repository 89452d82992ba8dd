package csar

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
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

func isLetter(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// nameSet finds names that collide: equal, equal but for case, or one being a
// directory of the other.
type nameSet struct {
	// folded maps the case-folded name of a file to the name.
	folded map[string]string
	// dirs maps the case-folded name of a directory to one file in it.
	dirs map[string]string
}

func newNameSet() *nameSet {
	return &nameSet{folded: map[string]string{}, dirs: map[string]string{}}
}

// add registers a clean name and says with what it collides.
func (s *nameSet) add(name string) error {
	key := strings.ToLower(name)
	if other, ok := s.folded[key]; ok {
		if other == name {
			return fmt.Errorf("the name is given twice")
		}
		return fmt.Errorf("the name differs only by case from %q", other)
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

package provider_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	links    = regexp.MustCompile(`\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)?)\)`)
	headings = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	anchors  = regexp.MustCompile(`<a id="([^"]+)">`)
	code     = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]+`")
	unslug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// own is where the registry finds the pictures of the guides: the repository itself.
const own = "https://raw.githubusercontent.com/nfv-iac/terraform-provider-vnf/main/"

// documents are the texts for people: what is generated, the guides, and the files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	found, err := filepath.Glob(filepath.Join(root, "*.md"))
	require.NoError(t, err)
	for _, folder := range []string{"docs", "adr", "examples", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") && !strings.Contains(path, "testdata") {
				found = append(found, path)
			}
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, len(found), 60)
	return found
}

// places returns the anchors of a document: its headings as GitHub and the registry write them, and those that it sets itself.
func places(text string) []string {
	var out []string
	for _, h := range headings.FindAllStringSubmatch(code.ReplaceAllStringFunc(text, func(s string) string { return strings.Trim(s, "`\n") }), -1) {
		title := links.ReplaceAllString(strings.ReplaceAll(h[1], "[", ""), "")
		out = append(out, strings.ReplaceAll(strings.ToLower(unslug.ReplaceAllString(title, "")), " ", "-"))
	}
	for _, a := range anchors.FindAllStringSubmatch(text, -1) {
		out = append(out, a[1])
	}
	return out
}

// TestLinks: links inside the repository lead to a file and a heading that exist; the others are well formed.
func TestLinks(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range links.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			checked++
			link := found[1]
			u, err := url.Parse(link)
			switch {
			case err != nil:
				t.Errorf("%s: %s: %v", path, link, err)
				continue
			case u.Scheme != "":
				if file, ours := strings.CutPrefix(link, own); ours {
					if _, err := os.Stat(filepath.Join("..", "..", file)); err != nil {
						t.Errorf("%s: %s leads nowhere", path, link)
					}
				} else if u.Scheme != "https" || u.Host == "" {
					t.Errorf("%s: %s is not an https address", path, link)
				}
				continue
			}
			target := path
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(u.Path))
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s: %s leads nowhere", path, link)
				continue
			}
			if u.Fragment == "" || info.IsDir() || !strings.HasSuffix(target, ".md") {
				continue
			}
			there, err := os.ReadFile(target)
			require.NoError(t, err)
			if !slices.Contains(places(string(there)), u.Fragment) {
				t.Errorf("%s: %s has no heading of that name", path, link)
			}
		}
	}
	if checked < 400 {
		t.Errorf("%d links were found", checked)
	}
}

// TestIndexListsGuides: each guide is in the index page, once.
func TestIndexListsGuides(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	index, err := os.ReadFile(filepath.Join(root, "docs", "index.md"))
	require.NoError(t, err)
	_, list, found := strings.Cut(string(index), "\n## Guides\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n## ")
	guides, err := filepath.Glob(filepath.Join(root, "docs", "guides", "*.md"))
	require.NoError(t, err)
	for _, guide := range guides {
		if n := strings.Count(list, "(guides/"+filepath.Base(guide)+")"); n != 1 {
			t.Errorf("the index lists %s %d times", filepath.Base(guide), n)
		}
	}
}

// TestPagesHaveSubcategories: each page of an object is in a group of the registry's sidebar.
func TestPagesHaveSubcategories(t *testing.T) {
	t.Parallel()
	groups := []string{"VIMs and packages", "Instances", "Clusters", "Registries"}
	for _, folder := range []string{"resources", "data-sources", "ephemeral-resources", "functions"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", "docs", folder, "*.md"))
		require.NoError(t, err)
		require.NotEmpty(t, pages)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			if group := regexp.MustCompile(`(?m)^subcategory: "(.*)"$`).FindStringSubmatch(string(text)); group == nil || !slices.Contains(groups, group[1]) {
				t.Errorf("%s has the subcategory %q; templates/%s.md.tmpl gives it", page, group, folder)
			}
		}
	}
}

var (
	commands = regexp.MustCompile(`terraform-provider-vnf (?:store|package|operations) ([a-z]+)`)
	targets  = regexp.MustCompile("(?m)(?:`|^ {4}|^\\| )make ((?:[a-z][a-z0-9./-]+ ?)+)")
	rules    = regexp.MustCompile(`(?m)^([a-zA-Z][\w/.-]*):`)
	uses     = regexp.MustCompile(`Use:\s+"([a-z]+)`)
)

// TestCommandsExist: documents name commands of the binary and targets of make that there are.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "GNUmakefile"))
	require.NoError(t, err)
	var made, words []string
	for _, rule := range rules.FindAllStringSubmatch(string(makefile), -1) {
		made = append(made, rule[1])
	}
	err = filepath.WalkDir(filepath.Join("..", "command"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			text, err := os.ReadFile(path)
			for _, use := range uses.FindAllStringSubmatch(string(text), -1) {
				words = append(words, use[1])
			}
			return err
		}
		return err
	})
	require.NoError(t, err)
	checked := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range commands.FindAllStringSubmatch(string(text), -1) {
			if checked++; !slices.Contains(words, found[1]) {
				t.Errorf("%s: there is no command %q", path, found[0])
			}
		}
		for _, found := range targets.FindAllStringSubmatch(string(text), -1) {
			for target := range strings.FieldsSeq(found[1]) {
				if checked++; !slices.Contains(made, target) {
					t.Errorf("%s: there is no target %q of make", path, target)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d commands were found", checked)
	}
}

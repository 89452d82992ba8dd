package provider_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// summaryArguments are the functions that make diagnostics, with the place of the summary among their arguments.
var summaryArguments = map[string]int{
	"AddError": 0, "AddWarning": 0, "AddAttributeError": 1, "AddAttributeWarning": 1,
	"NewErrorDiagnostic": 0, "NewWarningDiagnostic": 0, "NewAttributeErrorDiagnostic": 1, "NewAttributeWarningDiagnostic": 1,
	"addSecretError": 2, "checkPEM": 4,
}

// verbArguments are the functions that make "Unable to <verb> <object>", with the place of the verb.
var verbArguments = map[string]int{"tfutil.AddError": 1, "tfutil.AddAdvisedError": 1, "tfutil.AddCreateError": 1, "r.register": 1, "r.install": 1}

// refusals are the files whose function refuse has a summary as its first argument.
var refusals = []string{"rules.go", "upgrade.go"}

// summaryFields are fields of structures that become a part of a summary: its verb, its end.
var summaryFields = map[string]string{
	"CreateVerb": "Unable to * …", "RemoveVerb": "Unable to * …", "DeleteVerb": "Unable to * …", "IncompleteSummary": "… *",
}

// passedOn are the names of summaries and verbs that come from a caller, which is found itself, or from a problem of the engine.
var passedOn = []string{"summary", "verb", "invalid"}

var (
	placeholders = regexp.MustCompile(`%[a-z]`)
	severalDots  = regexp.MustCompile(`"?…"?(?: ?"?…"?)*`)
)

// messages finds the summaries of the diagnostics that Go files make.
type messages struct {
	// found has where each summary is made.
	found map[string][]string
	// constants are the texts of the constants of a package, named those of the names of one of its files.
	constants, named map[string][]string
	fset             *token.FileSet
	t                *testing.T
}

// texts returns what an expression of a text can be. What differs from run to run is "…".
func (m *messages) texts(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return []string{text}
		}
	case *ast.BinaryExpr:
		var out []string
		for _, left := range m.texts(e.X) {
			for _, right := range m.texts(e.Y) {
				out = append(out, left+right)
			}
		}
		return out
	case *ast.Ident:
		if texts := append(slices.Clone(m.named[e.Name]), m.constants[e.Name]...); len(texts) > 0 {
			return texts
		}
	case *ast.CallExpr:
		if selector, ok := e.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sprintf" {
			return []string{placeholders.ReplaceAllString(m.texts(e.Args[0])[0], "…")}
		}
	}
	return []string{"…"}
}

// add notes what an expression of a summary can be.
func (m *messages) add(e ast.Expr, pattern string) {
	for _, text := range m.texts(e) {
		at, summary := m.fset.Position(e.Pos()).String(), severalDots.ReplaceAllString(strings.Replace(pattern, "*", text, 1), "…")
		if summary == "Unable to …" {
			continue // its verbs are found by themselves
		}
		if strings.Trim(summary, "… ") != "" {
			m.found[summary] = append(m.found[summary], at)
			continue
		}
		// Nothing but parts: each is found by itself.
		switch e := e.(type) {
		case *ast.Ident:
			if !slices.Contains(passedOn, e.Name) {
				m.t.Errorf("%s: a reader of the source does not find the text of the summary", at)
			}
		case *ast.BinaryExpr, *ast.SelectorExpr:
		default:
			m.t.Errorf("%s: a reader of the source does not find the text of the summary", at)
		}
	}
}

// name notes the texts of names.
func (m *messages) name(into map[string][]string, name, value ast.Expr) {
	if ident, ok := name.(*ast.Ident); ok {
		into[ident.Name] = append(into[ident.Name], slices.DeleteFunc(m.texts(value), func(s string) bool { return strings.Trim(s, "… ") == "" })...)
	}
}

// names notes the texts of the constants of a package (in a first pass), or of the summaries of a file.
func (m *messages) names(n ast.Node, constants bool) {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, value := range n.Values {
			if constants && !slices.Contains(passedOn, n.Names[i].Name) {
				m.name(m.constants, n.Names[i], value)
			} else if !constants && slices.Contains(passedOn, n.Names[i].Name) {
				m.name(m.named, n.Names[i], value)
			}
		}
	case *ast.AssignStmt:
		for i, name := range n.Lhs {
			if ident, ok := name.(*ast.Ident); ok && !constants && len(n.Rhs) == len(n.Lhs) && slices.Contains(passedOn, ident.Name) {
				m.name(m.named, name, n.Rhs[i])
			}
		}
	}
}

// visit notes the summaries of calls and of structures.
func (m *messages) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		function, full := "", ""
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			function, full = f.Sel.Name, f.Sel.Name
			if x, ok := f.X.(*ast.Ident); ok {
				full = x.Name + "." + full
			}
		case *ast.Ident:
			function = f.Name
		}
		if place, verb := verbArguments[full]; verb {
			m.add(n.Args[place], "Unable to * …")
		} else if place, makes := summaryArguments[function]; makes && len(n.Args) > place {
			m.add(n.Args[place], "*")
		} else if function == "refuse" && slices.Contains(refusals, filepath.Base(m.fset.Position(n.Pos()).Filename)) {
			m.add(n.Args[0], "*")
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && summaryFields[key.Name] != "" {
			m.add(n.Value, summaryFields[key.Name])
		}
	}
}

// summaries returns the summaries of the diagnostics of the provider, with where they are made.
func summaries(t *testing.T) map[string][]string {
	t.Helper()
	m := &messages{found: map[string][]string{}, fset: token.NewFileSet(), t: t}
	for _, root := range []string{"provider", "service", "tfutil", "functions"} {
		folders := map[string][]*ast.File{}
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(m.fset, path, nil, parser.SkipObjectResolution)
			folders[filepath.Dir(path)] = append(folders[filepath.Dir(path)], file)
			return err
		})
		require.NoError(t, err)
		for _, folder := range slices.Sorted(maps.Keys(folders)) {
			m.constants, m.named = map[string][]string{}, map[string][]string{}
			for _, file := range folders[folder] {
				ast.Inspect(file, func(n ast.Node) bool { m.names(n, true); return true })
			}
			for _, file := range folders[folder] {
				m.named = map[string][]string{}
				ast.Inspect(file, func(n ast.Node) bool { m.names(n, false); return true })
				ast.Inspect(file, func(n ast.Node) bool { m.visit(n); return true })
			}
		}
	}
	return m.found
}

// TestTroubleshootingNamesEveryMessage: each summary of a diagnostic that the provider makes is in the guide, once, and the guide has
// no other.
func TestTroubleshootingNamesEveryMessage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "templates", "guides", "troubleshooting.md"))
	require.NoError(t, err)
	shown := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") && len(cells) == 3 {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
				shown[name[1]]++
			}
		}
	}
	made := summaries(t)
	if len(made) < 100 {
		t.Errorf("%d summaries are found in the source", len(made))
	}
	for _, summary := range slices.Sorted(maps.Keys(made)) {
		if shown[summary] != 1 {
			t.Errorf("the guide has %q %d times; it is made at %s", summary, shown[summary], strings.Join(made[summary], ", "))
		}
	}
	for _, summary := range slices.Sorted(maps.Keys(shown)) {
		if made[summary] == nil {
			t.Errorf("the guide has %q, which the provider does not say", summary)
		}
	}
}

package lazyregexp_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// TestRegexp has the methods answer as those of the standard library.
func TestRegexp(t *testing.T) {
	t.Parallel()
	const text = "a1 b22"
	r, want := lazyregexp.New(`[a-z](\d+)`), regexp.MustCompile(`[a-z](\d+)`)
	if first := r.Compiled(); first.String() != want.String() || r.Compiled() != first {
		t.Error("it is not the same expression each time")
	}
	if !r.Match([]byte(text)) || !r.MatchString(text) || r.MatchString("a") {
		t.Error("matches differ")
	}
	if got := r.FindString(text); got != "a1" {
		t.Errorf("FindString: %q", got)
	}
	if got := r.FindSubmatch([]byte(text)); len(got) != 2 || string(got[1]) != "1" {
		t.Errorf("FindSubmatch: %q", got)
	}
	if got := r.FindStringSubmatch(text); !slices.Equal(got, []string{"a1", "1"}) {
		t.Errorf("FindStringSubmatch: %q", got)
	}
	if got := r.FindStringSubmatchIndex(text); !slices.Equal(got, []int{0, 2, 1, 2}) {
		t.Errorf("FindStringSubmatchIndex: %v", got)
	}
	if got := r.FindAllStringSubmatch(text, -1); len(got) != 2 || got[1][1] != "22" {
		t.Errorf("FindAllStringSubmatch: %q", got)
	}
	if got := r.ReplaceAllString(text, "<$1>"); got != "<1> <22>" {
		t.Errorf("ReplaceAllString: %q", got)
	}
}

// TestAllCompile compiles each expression of the project, which otherwise fails where it is first used.
func TestAllCompile(t *testing.T) {
	t.Parallel()
	found := 0
	root := filepath.Join("..", "..", "internal")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(source, []byte("lazyregexp.New(")) {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, source, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNew(call.Fun) {
				return true
			}
			found++
			text, err := literal(call.Args[0])
			if err == nil {
				_, err = regexp.Compile(text)
			}
			if err != nil {
				t.Errorf("%s: %v", files.Position(call.Pos()), err)
			}
			return true
		})
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("%d expressions: %v", found, err)
	}
}

func isNew(f ast.Expr) bool {
	s, ok := f.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "New" {
		return false
	}
	p, ok := s.X.(*ast.Ident)
	return ok && p.Name == "lazyregexp"
}

// literal is the text of a literal, or of several that are joined. Text that is quoted for an expression compiles in any.
func literal(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := literal(e.X)
		if err != nil {
			return "", err
		}
		right, err := literal(e.Y)
		return left + right, err
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "QuoteMeta" {
			return "", nil
		}
		return "", strconv.ErrSyntax
	default:
		return "", strconv.ErrSyntax
	}
}

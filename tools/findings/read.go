package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// finding is a problem that the provider reports: its texts have "…" for what differs from case to case.
type finding struct{ folder, summary, detail string }

// maker is a function that makes a finding of its parameters: the places of summary and detail among them, -1 for none.
type maker struct{ summary, detail int }

// source is one package of Go files.
type source struct {
	folder string
	files  []*ast.File
	// makers are the functions of the package by name; those of a file by file and name.
	makers map[string]maker
	locals map[*ast.File]map[string]maker
	found  []finding
}

var (
	placeholders = regexp.MustCompile(`%[-+#]?[a-z]`)
	severalDots  = regexp.MustCompile(`…{2,}`)
	dots         = regexp.MustCompile(`"?…"?(?: "?…"?)*`)
)

// read returns the findings in the packages below internal.
func read(root string) ([]finding, error) {
	folders := map[string]*source{}
	set := token.NewFileSet()
	internal := filepath.Join(root, "internal")
	err := filepath.WalkDir(internal, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"lab", "testsupport", "bench", "e2e", "testdata", "functions"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(internal, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if folders[folder] == nil {
			folders[folder] = &source{folder: folder, makers: map[string]maker{}, locals: map[*ast.File]map[string]maker{}}
		}
		folders[folder].files = append(folders[folder].files, file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []finding
	for _, s := range folders {
		out = append(out, s.read()...)
	}
	slices.SortFunc(out, func(a, b finding) int {
		return strings.Compare(strings.ToLower(a.folder+"\x00"+a.summary+"\x00"+a.detail), strings.ToLower(b.folder+"\x00"+b.summary+"\x00"+b.detail))
	})
	return slices.Compact(out), nil
}

// read finds the makers first: a function that passes its parameters to a maker is one too.
func (s *source) read() []finding {
	for range 4 {
		for _, file := range s.files {
			if s.locals[file] == nil {
				s.locals[file] = map[string]maker{}
			}
			s.findMakers(file)
		}
	}
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if summary, detail := s.made(file, n); summary != nil {
				s.add(summary, detail)
			}
			return true
		})
	}
	return s.found
}

// findMakers notes the functions of a file whose summary is one of their parameters.
func (s *source) findMakers(file *ast.File) {
	note := func(into map[string]maker, name string, kind *ast.FuncType, body *ast.BlockStmt) {
		if body == nil || kind.Params == nil {
			return
		}
		var params []string
		for _, field := range kind.Params.List {
			for _, param := range field.Names {
				params = append(params, param.Name)
			}
		}
		ast.Inspect(body, func(n ast.Node) bool {
			summary, detail := s.made(file, n)
			if at := slices.Index(params, parameter(summary)); summary != nil && at >= 0 {
				into[name] = maker{at, slices.Index(params, parameter(detail))}
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			note(s.makers, n.Name.Name, n.Type, n.Body)
		case *ast.AssignStmt:
			for i, value := range n.Rhs {
				if function, ok := value.(*ast.FuncLit); ok && len(n.Lhs) == len(n.Rhs) {
					if name, ok := n.Lhs[i].(*ast.Ident); ok {
						note(s.locals[file], name.Name, function.Type, function.Body)
					}
				}
			}
		}
		return true
	})
}

// parameter returns the name of a text that is passed on, also of a format.
func parameter(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.CallExpr:
		if selector, ok := e.Fun.(*ast.SelectorExpr); ok && (selector.Sel.Name == "Sprintf" || selector.Sel.Name == "Clip") && len(e.Args) > 0 {
			return parameter(e.Args[0])
		}
	}
	return ""
}

// made returns the texts of a finding that a node makes.
func (s *source) made(file *ast.File, n ast.Node) (summary, detail ast.Expr) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, element := range n.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				switch key, _ := pair.Key.(*ast.Ident); {
				case key == nil:
				case key.Name == "Summary":
					summary = pair.Value
				case key.Name == "Detail":
					detail = pair.Value
				}
			}
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		m, ok := s.locals[file][name]
		if !ok {
			m, ok = s.makers[name]
		}
		if !ok || m.summary >= len(n.Args) {
			return nil, nil
		}
		summary = n.Args[m.summary]
		if m.detail >= 0 && m.detail < len(n.Args) {
			detail = n.Args[m.detail]
		}
	}
	return summary, detail
}

// text returns what an expression of a text says.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if value, err := strconv.Unquote(e.Value); err == nil {
			return value
		}
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	case *ast.ParenExpr:
		return text(e.X)
	case *ast.CallExpr:
		if parameter(e) == "" && len(e.Args) > 0 {
			if selector, ok := e.Fun.(*ast.SelectorExpr); ok && (selector.Sel.Name == "Sprintf" || selector.Sel.Name == "Clip") {
				return placeholders.ReplaceAllString(text(e.Args[0]), "…")
			}
		}
	}
	return "…"
}

// add notes a finding that says something of its own.
func (s *source) add(summary, detail ast.Expr) {
	f := finding{folder: s.folder, summary: clean(placeholders.ReplaceAllString(text(summary), "…"))}
	// One word is the name of a place.
	if strings.Trim(f.summary, `… ".,:`) == "" || !strings.Contains(f.summary, " ") {
		return
	}
	if detail != nil {
		f.detail = strings.TrimPrefix(clean(placeholders.ReplaceAllString(text(detail), "…")), "…; ")
		if strings.Trim(f.detail, `… ".,:`) == "" {
			f.detail = ""
		}
	}
	s.found = append(s.found, f)
}

func clean(text string) string {
	return strings.Join(strings.Fields(severalDots.ReplaceAllString(dots.ReplaceAllString(text, "…"), "…")), " ")
}

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
type finding struct{ folder, file, summary, detail, at string }

// part is a text of a finding: an expression, and what stands around it in the function that makes the finding.
type part struct {
	expr   ast.Expr
	around func(string) string
}

// maker is a function that makes a finding of its parameters: the places of summary and detail among them, -1 for none. Same is the detail
// that all its findings have.
type maker struct {
	summary, detail             int
	aroundSummary, aroundDetail func(string) string
	same                        part
}

// methods are those of vnfm.Problems that make a finding in all packages.
var methods = map[string]maker{
	"Errorf": {summary: 3, detail: -1},
	"Warnf":  {summary: 3, detail: -1},
}

// source is one package of Go files.
type source struct {
	folder string
	set    *token.FileSet
	files  []*ast.File
	// makers are the functions of the package by name, locals those in a function.
	makers map[string]maker
	locals map[ast.Decl]map[string]maker
	// inMaker are the findings that makers make of their parameters.
	inMaker map[ast.Node]bool
	// said are the remedies in comments, by file and the line after them.
	said  map[string]string
	names *names
	found []finding
}

var (
	placeholders = regexp.MustCompile(`%[-+#]?[a-z]`)
	severalDots  = regexp.MustCompile(`…{2,}`)
	wholly       = regexp.MustCompile(`^%[sv]$`)
	saysWhat     = regexp.MustCompile(`\b(must|needs)\b|; `)
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
			if slices.Contains([]string{"lab", "testsupport", "bench", "e2e", "testdata", "functions", "storetest"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(internal, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if folders[folder] == nil {
			folders[folder] = &source{folder: folder, set: set, makers: map[string]maker{}, locals: map[ast.Decl]map[string]maker{}, inMaker: map[ast.Node]bool{}, said: map[string]string{}}
		}
		folders[folder].files = append(folders[folder].files, file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	constants := map[string]ast.Expr{}
	for _, s := range folders {
		s.names = newNames(s.files, constants)
	}
	var out []finding
	for _, s := range folders {
		out = append(out, s.read()...)
	}
	texts := func(f finding) string {
		return strings.ToLower(f.folder + "/" + f.file + "\x00" + f.summary + "\x00" + f.detail)
	}
	slices.SortFunc(out, func(a, b finding) int { return strings.Compare(texts(a)+a.at, texts(b)+b.at) })
	return slices.CompactFunc(out, func(a, b finding) bool { return texts(a) == texts(b) }), nil
}

// read finds the makers first: a function that passes its parameters to a maker is one too.
func (s *source) read() []finding {
	for range 4 {
		for _, file := range s.files {
			for _, declaration := range file.Decls {
				s.findMakers(declaration)
			}
		}
	}
	for _, file := range s.files {
		s.readComments(file)
		for _, declaration := range file.Decls {
			s.names.enter(declaration)
			ast.Inspect(declaration, func(n ast.Node) bool {
				if summary, detail := s.made(declaration, n); summary.expr != nil && !s.inMaker[n] {
					s.add(summary, detail)
				}
				return true
			})
		}
	}
	return s.found
}

// says begins a comment on the line before a finding, with the remedy where the text has it already or quotes it.
const says = "//findings:says "

func (s *source) readComments(file *ast.File) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if text, ok := strings.CutPrefix(comment.Text, says); ok {
				s.said[s.line(comment.Pos(), 1)] = text
			}
		}
	}
}

// line names the line of a place, or one some lines below it.
func (s *source) line(at token.Pos, below int) string {
	place := s.set.Position(at)
	return place.Filename + ":" + strconv.Itoa(place.Line+below)
}

// findMakers notes the functions of a declaration whose summary is one of their parameters, or has the one that is called summary.
func (s *source) findMakers(declaration ast.Decl) {
	if s.locals[declaration] == nil {
		s.locals[declaration] = map[string]maker{}
	}
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
			summary, detail := s.made(declaration, n)
			if at, around := s.passedOn(summary, params, "summary"); at >= 0 {
				m := maker{summary: at, aroundSummary: around}
				if m.detail, m.aroundDetail = s.passedOn(detail, params, "detail"); m.detail < 0 {
					m.same = detail
				}
				into[name], s.inMaker[n] = m, true
			}
			return true
		})
	}
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			note(s.makers, n.Name.Name, n.Type, n.Body)
		case *ast.AssignStmt:
			for i, value := range n.Rhs {
				if function, ok := value.(*ast.FuncLit); ok && len(n.Lhs) == len(n.Rhs) {
					if name, ok := n.Lhs[i].(*ast.Ident); ok {
						note(s.locals[declaration], name.Name, function.Type, function.Body)
					}
				}
			}
		}
		return true
	})
}

// passedOn returns which parameter a text is, -1 for none, and what stands around it. A parameter by the usual name may be a part of it.
func (s *source) passedOn(p part, params []string, usual string) (int, func(string) string) {
	if p.expr == nil {
		return -1, nil
	}
	if at := slices.Index(params, parameter(p.expr)); at >= 0 {
		return at, p.around
	}
	if usual == "summary" && !slices.Contains(params, usual) {
		usual = "format"
	}
	at := slices.Index(params, usual)
	if at < 0 || !mentions(p.expr, usual) {
		return -1, nil
	}
	return at, func(text string) string {
		return framed(p.around, s.names.text(p.expr, map[string]string{usual: text}))
	}
}

func framed(around func(string) string, text string) string {
	if around == nil {
		return text
	}
	return around(text)
}

// mentions reports whether an expression has a name.
func mentions(e ast.Expr, name string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
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
func (s *source) made(declaration ast.Decl, n ast.Node) (summary, detail part) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, element := range n.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				switch key, _ := pair.Key.(*ast.Ident); {
				case key == nil:
				case key.Name == "Summary":
					summary.expr = pair.Value
				case key.Name == "Detail":
					detail.expr = pair.Value
				}
			}
		}
	case *ast.CallExpr:
		m, ok := s.maker(declaration, n)
		if !ok || m.summary >= len(n.Args) {
			return part{}, part{}
		}
		summary, detail = part{s.summaryOf(n.Args[m.summary:]), m.aroundSummary}, m.same
		if m.detail >= 0 && m.detail < len(n.Args) {
			detail = part{n.Args[m.detail], m.aroundDetail}
		}
	}
	return summary, detail
}

// summaryOf returns the summary that the last arguments of a call make: what is nothing but a text is that text, and a format that has
// a text among its arguments is read with it.
func (s *source) summaryOf(args []ast.Expr) ast.Expr {
	switch format := s.names.text(args[0], nil); {
	case len(args) == 2 && wholly.MatchString(format):
		return args[1]
	case len(args) > 1 && placeholders.MatchString(format):
		at := args[0].Pos()
		return &ast.CallExpr{Fun: &ast.SelectorExpr{X: &ast.Ident{NamePos: at, Name: "fmt"}, Sel: &ast.Ident{NamePos: at, Name: "Sprintf"}}, Args: args}
	}
	return args[0]
}

// maker returns the maker that a call calls: one of the function or of the package, or a method of vnfm.Problems, or of
// the parameters of a management driver, whose third argument is no column but a text.
func (s *source) maker(declaration ast.Decl, n *ast.CallExpr) (maker, bool) {
	name := called(n)
	if m, ok := s.locals[declaration][name]; ok {
		return m, true
	}
	if m, ok := s.makers[name]; ok {
		return m, true
	}
	m, ok := methods[name]
	if !ok || len(n.Args) < m.summary {
		return maker{}, false
	}
	if on, ok := n.Fun.(*ast.SelectorExpr); !ok || mentions(on.X, "fmt") {
		return maker{}, false
	}
	if third, ok := n.Args[2].(*ast.BasicLit); ok && third.Kind == token.STRING {
		// The attribute stands before the format.
		attribute := strings.TrimSuffix("…."+strings.Trim(clean(s.names.text(n.Args[0], nil)), "…."), ".")
		around := func(text string) string { return attribute + " " + text }
		return maker{summary: 2, detail: 1, aroundSummary: around}, strings.HasPrefix(s.folder, "mgmt")
	}
	return m, len(n.Args) > m.summary
}

// called is the name of a function that is called.
func called(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// add notes a finding that says something of its own, or each of those whose texts a function of the package returns.
func (s *source) add(summary, detail part) {
	if call, ok := summary.expr.(*ast.CallExpr); ok && called(call) != "Error" {
		for _, text := range s.names.returned[called(call)] {
			s.note(part{text, summary.around}, detail)
		}
	}
	s.note(summary, detail)
}

func (s *source) note(summary, detail part) {
	f := finding{
		folder: s.folder, file: filepath.Base(s.set.Position(summary.expr.Pos()).Filename), at: s.line(summary.expr.Pos(), 0),
		summary: clean(framed(summary.around, s.names.text(summary.expr, nil))),
	}
	// One word is the name of a place.
	if strings.Trim(f.summary, `… ".,:`) == "" || !strings.Contains(f.summary, " ") {
		return
	}
	if detail.expr != nil {
		f.detail = strings.TrimPrefix(clean(framed(detail.around, s.names.long(detail.expr))), "…; ")
		if strings.Trim(f.detail, `… ".,:;`) == "" {
			f.detail = ""
		}
	}
	if said := s.said[f.at]; said != "" {
		f.detail = said
	}
	s.found = append(s.found, f)
}

// withoutRemedy returns the findings that do not say what to do: they have no detail, and no word of what must be.
func withoutRemedy(found []finding) []finding {
	var out []finding
	for _, f := range found {
		if f.detail == "" && !saysWhat.MatchString(f.summary) {
			out = append(out, f)
		}
	}
	return out
}

func clean(text string) string {
	text = placeholders.ReplaceAllString(text, "…")
	return strings.Join(strings.Fields(severalDots.ReplaceAllString(dots.ReplaceAllString(text, "…"), "…")), " ")
}

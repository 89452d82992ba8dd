package main

import (
	"go/ast"
	"go/token"
	"strconv"
)

// names are what the names in a package stand for.
type names struct {
	// constants are those of all packages by their package and name, and own those of this one.
	constants map[string]ast.Expr
	own       map[string]ast.Expr
	// returned are the texts that functions return, fields those that fields of structures are given.
	returned, fields map[string][]ast.Expr
	// local are the values of the variables of one function.
	local map[string][]ast.Expr
}

func newNames(files []*ast.File, constants map[string]ast.Expr) *names {
	n := &names{constants: constants, own: map[string]ast.Expr{}, returned: map[string][]ast.Expr{}, fields: map[string][]ast.Expr{}}
	for _, file := range files {
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.GenDecl:
				n.declare(file.Name.Name, d)
			case *ast.FuncDecl:
				n.function(d)
			}
		}
	}
	return n
}

func (n *names) declare(folder string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST || len(values.Names) != len(values.Values) {
			continue
		}
		for i, name := range values.Names {
			n.own[name.Name] = values.Values[i]
			n.constants[folder+"."+name.Name] = values.Values[i]
		}
	}
}

func (n *names) function(d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	ast.Inspect(d.Body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ReturnStmt:
			if len(node.Results) == 1 {
				n.returned[d.Name.Name] = append(n.returned[d.Name.Name], node.Results[0])
			}
		case *ast.KeyValueExpr:
			if key, ok := node.Key.(*ast.Ident); ok && !key.IsExported() {
				n.fields[key.Name] = append(n.fields[key.Name], node.Value)
			}
		}
		return true
	})
}

// enter reads the variables of a function.
func (n *names) enter(declaration ast.Decl) {
	n.local = map[string][]ast.Expr{}
	ast.Inspect(declaration, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for i, left := range node.Lhs {
				if name, ok := left.(*ast.Ident); ok && len(node.Lhs) == len(node.Rhs) && node.Tok != token.ADD_ASSIGN {
					n.local[name.Name] = append(n.local[name.Name], node.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range node.Names {
				if len(node.Names) == len(node.Values) {
					n.local[name.Name] = append(n.local[name.Name], node.Values[i])
				}
			}
		}
		return true
	})
}

// text returns what an expression of a text says: literals, constants and the names that are bound.
func (n *names) text(e ast.Expr, bound map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if value, err := strconv.Unquote(e.Value); err == nil {
			return value
		}
	case *ast.BinaryExpr:
		return n.text(e.X, bound) + n.text(e.Y, bound)
	case *ast.ParenExpr:
		return n.text(e.X, bound)
	case *ast.Ident:
		if value, ok := bound[e.Name]; ok {
			return value
		}
		if value, ok := n.own[e.Name]; ok {
			return n.text(value, nil)
		}
	case *ast.SelectorExpr:
		if folder, ok := e.X.(*ast.Ident); ok && n.constants[folder.Name+"."+e.Sel.Name] != nil {
			return n.text(n.constants[folder.Name+"."+e.Sel.Name], nil)
		}
	case *ast.CallExpr:
		if isFormat(e) {
			return n.formatted(e, bound)
		}
	}
	return "…"
}

func isFormat(e *ast.CallExpr) bool {
	selector, ok := e.Fun.(*ast.SelectorExpr)
	return ok && (selector.Sel.Name == "Sprintf" || selector.Sel.Name == "Clip") && len(e.Args) > 0
}

// formatted fills what is bound into a format.
func (n *names) formatted(e *ast.CallExpr, bound map[string]string) string {
	at := 0
	return placeholders.ReplaceAllStringFunc(n.text(e.Args[0], bound), func(string) string {
		if at++; at < len(e.Args) {
			if name, ok := e.Args[at].(*ast.Ident); ok && bound[name.Name] != "" {
				return bound[name.Name]
			}
		}
		return "…"
	})
}

// long is text with what a variable may be, and when the expression is nothing but a field or a call, what that may be: the longest of them.
func (n *names) long(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if values := n.fields[e.Sel.Name]; len(values) > 0 {
			return n.longest(values)
		}
	case *ast.CallExpr:
		if values := n.returned[called(e)]; len(values) > 0 && called(e) != "Error" {
			return n.longest(values)
		}
	}
	return n.known(e, 0)
}

// known is text with what a variable may be.
func (n *names) known(e ast.Expr, depth int) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return n.known(e.X, depth) + n.known(e.Y, depth)
	case *ast.Ident:
		out := ""
		for _, value := range n.local[e.Name] {
			if depth < 4 {
				if text := n.known(value, depth+1); len(text) > len(out) {
					out = text
				}
			}
		}
		if out != "" {
			return out
		}
	}
	return n.text(e, nil)
}

// longest is the longest of several texts.
func (n *names) longest(values []ast.Expr) string {
	out := ""
	for _, value := range values {
		if text := n.known(value, 0); len(text) > len(out) {
			out = text
		}
	}
	return out
}

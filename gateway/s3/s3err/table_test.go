package s3err

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestEveryRowIsWholeAndNoMessageIsThereTwice(t *testing.T) {
	statuses, messages := make(map[string]int), make(map[string]Row)
	for r := Row(1); r < end; r++ {
		e := r.entry()
		if e.code == "" || e.message == "" || http.StatusText(e.status) == "" {
			t.Errorf("row %d is not whole: %+v", r, e)
		}
		if status, ok := statuses[e.code]; ok && status != e.status {
			t.Errorf("%s has the statuses %d and %d", e.code, status, e.status)
		}
		if twice, ok := messages[e.message]; ok {
			t.Errorf("rows %d and %d have one message: %s", twice, r, e.message)
		}
		statuses[e.code], messages[e.message] = e.status, r
	}
}

func TestAFailureTellsItsCauseToTheLogAlone(t *testing.T) {
	cause := errors.New("disk on fire")
	failure := NoSpace.Wrap(cause).With("A", "b").Argument("name", "value")
	if !errors.Is(failure, cause) || strings.Contains(failure.Message, "fire") || !strings.Contains(failure.Error(), "fire") {
		t.Errorf("%v with the message %q", failure, failure.Message)
	}
	if want := map[string]string{"A": "b", "ArgumentName": "name", "ArgumentValue": "value"}; !reflect.DeepEqual(failure.Fields, want) {
		t.Errorf("fields %v, want %v", failure.Fields, want)
	}
	if failure.Code() != "InsufficientStorage" || failure.Status() != http.StatusInsufficientStorage {
		t.Errorf("%s, %d", failure.Code(), failure.Status())
	}
}

// TestRowsGetWhatTheirMessagesName reads all of the gateways' calls of New and Wrap:
// the compiler does not compare arguments with the verbs of a message.
func TestRowsGetWhatTheirMessagesName(t *testing.T) {
	verb := regexp.MustCompile(`%[a-z]`)
	verbs := make(map[string]int)
	for name, r := range rowsByName(t) {
		verbs[name] = len(verb.FindAllString(r.entry().message, -1))
	}
	used := make(map[string]bool)
	eachFile(t, func(path string, file *ast.File, set *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := rowOf(n); ok {
				used[name] = true
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name, ok := rowOf(method.X)
			args := len(call.Args)
			switch {
			case !ok:
				return true
			case method.Sel.Name == "Wrap":
				args--
			case method.Sel.Name != "New":
				return true
			}
			if args != verbs[name] {
				t.Errorf("%s: %s takes %d arguments, not %d", set.Position(call.Pos()), name, verbs[name], args)
			}
			return true
		})
	})
	for name := range verbs {
		if !used[name] {
			t.Errorf("no one uses the row %s", name)
		}
	}
}

// TestCodesStandInTheTableAlone finds the literals of codes that belong here.
func TestCodesStandInTheTableAlone(t *testing.T) {
	codes := make(map[string]bool)
	for r := Row(1); r < end; r++ {
		codes[r.Code()] = true
	}
	eachFile(t, func(path string, file *ast.File, set *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && codes[text] {
					t.Errorf("%s: %q: use a row of s3err", set.Position(lit.Pos()), text)
				}
			}
			return true
		})
	})
}

// rowOf returns the name of the row that an expression is.
func rowOf(n ast.Node) (string, bool) {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return selector.Sel.Name, ok && pkg.Name == "s3err"
}

// rowsByName reads the names of the rows from the table's source.
func rowsByName(t *testing.T) map[string]Row {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]Row)
	for _, d := range file.Decls {
		if decl, ok := d.(*ast.GenDecl); ok && decl.Tok == token.CONST {
			for i, spec := range decl.Specs {
				if name := spec.(*ast.ValueSpec).Names[0]; name.IsExported() {
					rows[name.Name] = Row(i)
				}
			}
		}
	}
	if len(rows) != int(end)-1 {
		t.Fatalf("%d names of %d rows", len(rows), end-1)
	}
	return rows
}

// eachFile parses the files of the gateways, but for this package and tests.
func eachFile(t *testing.T, visit func(path string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			filepath.Base(filepath.Dir(path)) == "s3err" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "s3err") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, 0)
		if err != nil {
			return err
		}
		count++
		visit(path, file, set)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 10 {
		t.Errorf("only %d files use the table", count)
	}
}

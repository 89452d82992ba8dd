package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestExamplesKeepSecretsOutOfState: no example gives a resource of the provider a secret by an
// argument that the state keeps, nor a password, a key or all rights to anybody.
func TestExamplesKeepSecretsOutOfState(t *testing.T) {
	t.Parallel()
	argument := regexp.MustCompile(`^\s+(\w+)\s*=\s*[^{\s]`)
	literal := regexp.MustCompile(`(?i)(password|secret|token)\s*=\s*"[^"$]|BEGIN [A-Z ]*PRIVATE KEY|"system:masters"`)
	writeOnlyObject := regexp.MustCompile(`^  \w+_wo\s*=\s*\{\s*$`)
	files := 0
	for _, folder := range []string{"examples", "templates"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !regexp.MustCompile(`\.(tf|md|tmpl)$`).MatchString(path) {
				return err
			}
			text, err := os.ReadFile(path)
			files++
			inside, writeOnly := false, false
			for number, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(line, `resource "vnf_`) || strings.HasPrefix(line, "}") {
					inside = strings.HasPrefix(line, "resource")
				}
				if writeOnlyObject.MatchString(line) || strings.HasPrefix(line, "  }") {
					writeOnly = !strings.HasPrefix(line, "  }")
				}
				if found := argument.FindStringSubmatch(line); inside && !writeOnly && found != nil && (vnfm.NamesSecret(found[1]) || strings.HasSuffix(found[1], "_key") || found[1] == "clouds_yaml") {
					t.Errorf("%s:%d: the state has %s", path, number+1, found[1])
				}
				if literal.MatchString(line) {
					t.Errorf("%s:%d: %s", path, number+1, line)
				}
			}
			return err
		})
		require.NoError(t, err)
	}
	if files < 20 {
		t.Errorf("%d files", files)
	}
}

package provider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDrawings: the drawings of the documentation can be read on a phone, which shows them 328 pixels wide.
func TestDrawings(t *testing.T) {
	t.Parallel()
	const phone, least = 328, 9
	files, err := filepath.Glob("../../docs/images/*.svg")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	width, font := regexp.MustCompile(`viewBox="0 0 (\d+) `), regexp.MustCompile(`font(?:-size)?: ([\d.]+)px`)
	number := func(found []string) float64 {
		require.Len(t, found, 2)
		n, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		return n
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		wide := number(width.FindStringSubmatch(string(content)))
		sizes := font.FindAllStringSubmatch(string(content), -1)
		require.NotEmpty(t, sizes, file)
		for _, size := range sizes {
			require.GreaterOrEqual(t, number(size)*phone/wide, float64(least), "%s has a font of %s, which is too small on a phone", file, size[1])
		}
	}
}

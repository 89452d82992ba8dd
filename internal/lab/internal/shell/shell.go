// Package shell writes for POSIX shells.
package shell

import (
	"fmt"
	"io"
	"strings"
)

// Export prints variables with their values as assignments, to be read with eval.
func Export(w io.Writer, variables [][2]string) error {
	for _, variable := range variables {
		if _, err := fmt.Fprintf(w, "export %s=%s\n", variable[0], Quote(variable[1])); err != nil {
			return err
		}
	}
	return nil
}

// Quote makes one word of a text.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

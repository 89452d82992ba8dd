package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// makeFolder creates a folder for the program that other users cannot read.
const (
	makeFolder   = "umask 077; mktemp -d"
	removeFolder = `rm -rf "$1"`
	runProgram   = `exec "$@"`
)

// RunProgram runs a script of a package on a server, with the interpreter in its first line or /bin/sh. cmd has the arguments of the
// program, and no Script.
func RunProgram(ctx context.Context, c *remote.Client, cmd remote.Command, program string) (result remote.Result, err error) {
	words := interpreter(program)
	made, err := c.Run(ctx, remote.Command{What: "making a folder for " + cmd.What, Script: makeFolder})
	if err != nil {
		return result, err
	}
	folder := strings.TrimSpace(made.Stdout)
	defer func() {
		_, removeErr := c.Run(context.WithoutCancel(ctx), remote.Command{What: "removing the folder of " + cmd.What, Script: removeFolder, Args: []string{folder}})
		if err == nil && removeErr != nil {
			err = removeErr
		}
	}()
	file := path.Join(folder, "program")
	if _, err := c.WriteFile(ctx, remote.File{Path: file, Content: []byte(program), Mode: 0o600}); err != nil {
		return result, err
	}
	cmd.Script, cmd.Args = runProgram, append(append(words, file), cmd.Args...)
	return c.Run(ctx, cmd)
}

// interpreter returns the command in the first line of a script, without #!.
func interpreter(program string) []string {
	line, _, _ := strings.Cut(program, "\n")
	if text, ok := strings.CutPrefix(line, "#!"); ok {
		if words := strings.Fields(text); len(words) > 0 {
			return words
		}
	}
	return []string{"/bin/sh"}
}

// maxProgram bounds a script of a package, which is read into memory.
const maxProgram = 1 << 20

// ReadProgram reads a script of a package, of at most 1 MiB.
func ReadProgram(files fs.FS, file string) (string, error) {
	name := path.Clean(file)
	info, err := fs.Stat(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the package has no file %s", file)
	case err != nil:
		return "", fmt.Errorf("reading %s of the package: %w", file, err)
	case info.IsDir() || info.Size() > maxProgram:
		return "", fmt.Errorf("%s of the package is not a script, or is larger than 1 MiB", file)
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return "", fmt.Errorf("reading %s of the package: %w", file, err)
	}
	return string(data), nil
}

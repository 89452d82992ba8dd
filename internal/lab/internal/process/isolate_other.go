//go:build !linux

package process

import "os/exec"

// Isolate does nothing: only Linux has namespaces, and what needs them says so before.
func Isolate(*exec.Cmd) {}

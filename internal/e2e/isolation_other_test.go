//go:build unix && !linux

package e2e_test

import "syscall"

func ownPIDs() uintptr { return 0 }

func isolate(*syscall.SysProcAttr, uintptr) {}

//go:build !linux

package store

func thisProcess() (process, bool) { return process{}, false }

func processGone(int, string) bool { return false }

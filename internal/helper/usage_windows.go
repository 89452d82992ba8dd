package helper

import (
	"syscall"
	"time"
)

// processorTime is what this process has used of the processors.
func processorTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return hundreds(kernel) + hundreds(user)
}

// hundreds is a duration, which Windows counts in units of 100 ns.
func hundreds(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32+int64(f.LowDateTime)) * 100
}

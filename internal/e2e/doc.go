// Package e2e tests the provider as users run it: the built binary under the real
// terraform command, one process of each per run. What tests inside one process
// cannot do is done here: processes are killed and interrupted at chosen
// instants, run side by side on one store, and everything that they leave behind
// is searched, from the store to the TRACE log.
package e2e

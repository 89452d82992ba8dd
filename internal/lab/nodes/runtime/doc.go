// Package runtime is empty: the module builds programs of others, see its go.mod.
package runtime

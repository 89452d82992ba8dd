// Package capo is empty: the module builds a program of another one, see its GNUmakefile.
package capo

// Package heat is the infra driver for OpenStack VIMs: an instance is one stack of Heat,
// made of the templates of its package or of its VNFD.
package heat

// Package vnfm is the port of the VNF manager: the domain types of ETSI NFV
// (VIM, VNF package, VNF instance, LCM operation occurrence), the interfaces that
// a manager and its infra drivers implement, and the errors that they return.
//
// It is the ground floor: everything may import it, it imports nothing of the
// project and neither Terraform nor any client library.
package vnfm

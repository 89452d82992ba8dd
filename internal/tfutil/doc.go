// Package tfutil holds what the Terraform objects share: diagnostics from the
// errors and problems of the port, write-only secret arguments, masking of logs,
// timeouts, and conversion between dynamic and Go values. It is the last floor
// that knows Terraform.
package tfutil

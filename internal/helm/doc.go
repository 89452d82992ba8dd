// Package helm reads Helm charts out of VNF packages and renders them, and keeps
// Helm's own records of releases.
//
// A chart is rendered offline and always in the same way, so that what is planned
// is what is applied: for a fixed version of Kubernetes and its stable API versions
// unless the user says others, as revision 1 of a release that is being installed,
// without a look at the cluster, and with maps in the order of their keys.
// What templates make up, such as passwords and certificates, is made once and
// remembered by those who ask for it; else such templates are found and refused.
//
// The records have the form that Helm's storage driver "secret" writes, so that
// `helm list`, `helm history` and `helm get` show the release. Nothing is sent
// from here: objects and records are applied by others.
package helm

// Package magnum knows what OpenStack Magnum calls a cluster template: which labels
// there are, what they mean, and what becomes of template, labels and a cluster's own
// choices as values of a chart of capi-helm-charts. It is pure: nothing is asked of an
// OpenStack, so that what Magnum reads from images and volume types is given to it.
package magnum

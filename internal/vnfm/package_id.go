package vnfm

// PackageID composes the id of a package, "<name>@<digest>", from its name, which has no "@", and
// the digest of its content. It is known at plan time, and changes with the content.
func PackageID(name, digest string) string { return name + "@" + digest }

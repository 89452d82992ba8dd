package vnfm

// Connection is a further VIM of an instance, an entry of vimConnectionInfo of
// SOL003, and what of the instance is there.
type Connection struct {
	VIMID string `json:"vim_id"`
	// Namespace receives namespaced objects that name none; empty means the default
	// namespace of the VIM.
	Namespace string `json:"namespace,omitempty"`
	// VDUIDs are the VDUs that are there with what belongs to them, Manifests the
	// files of the package whose objects are.
	VDUIDs    []string `json:"vdu_ids,omitempty"`
	Manifests []string `json:"manifests,omitempty"`
}

// Part is what one VIM has of an instance.
type Part struct {
	// Rest is set for the VIM that has everything but what is named: the named is
	// elsewhere.
	Rest      bool
	VDUIDs    []string
	Manifests []string
}

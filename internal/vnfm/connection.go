package vnfm

import (
	"slices"
	"strings"
)

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

// connectionSeparator stands between the name of a VIM connection and the key of an
// object there.
const connectionSeparator = ": "

// ConnectionKey is how an object goes by in its instance, given its key on its VIM. On
// the instance's own VIM, whose connection is "", that is the same.
func ConnectionKey(connection, key string) string {
	if connection == "" {
		return key
	}
	return connection + connectionSeparator + key
}

// CutConnection is the reverse of ConnectionKey.
func CutConnection(key string) (connection, own string) {
	if connection, own, ok := strings.Cut(key, connectionSeparator); ok {
		return connection, own
	}
	return "", key
}

// Part is what one VIM has of an instance.
type Part struct {
	// Rest is set for the VIM that has everything but what is named: the named is
	// elsewhere.
	Rest      bool
	VDUIDs    []string
	Manifests []string
}

// Has reports whether a VDU is on the VIM; nil has all of them.
func (p *Part) Has(vdu string) bool {
	if p == nil {
		return true
	}
	return p.Rest != slices.Contains(p.VDUIDs, vdu)
}

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

// AttributeConnections is the argument that the connections of an instance are.
const AttributeConnections = "vim_connections"

// The arguments that connect instances to networks: external virtual links, and internal ones that are given.
const (
	AttributeExternalLinks = "ext_virtual_links"
	AttributeManagedLinks  = "ext_managed_virtual_links"
)

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
	// Alone is set when no other VIM of the instance is of the same kind: what of the package is for this kind is all here.
	Alone bool
	// Foreign are the VDUs on VIMs of other kinds. The driver makes nothing for them.
	Foreign []string
}

// Has reports whether a VDU is on the VIM; nil has all of them.
func (p *Part) Has(vdu string) bool {
	if p == nil {
		return true
	}
	return p.Rest != slices.Contains(p.VDUIDs, vdu)
}

// IsForeign reports whether a VDU is on a VIM of another kind.
func (p *Part) IsForeign(vdu string) bool { return p != nil && slices.Contains(p.Foreign, vdu) }

// Empty reports whether nothing of the instance belongs on the VIM any more: what it has is to go.
func (p *Part) Empty() bool {
	return p != nil && !p.Rest && len(p.VDUIDs)+len(p.Manifests) == 0
}

// Unversioned is the key of an object without the version of its API: objects with the same one are the same object, written in different
// versions.
func Unversioned(key string) string {
	connection, own := CutConnection(key)
	kind, name, _ := strings.Cut(own, " ")
	parts := strings.Split(kind, "/")
	if n := len(parts); n > 1 {
		parts = slices.Delete(parts, n-2, n-1)
	}
	return ConnectionKey(connection, strings.Join(parts, "/")+" "+name)
}

// FormerKeys maps keys of objects to those under which others have the same objects in another version of their API.
func FormerKeys[A, B any](now map[string]A, before map[string]B) map[string]string {
	left := map[string]string{}
	for key := range before {
		if _, stays := now[key]; !stays {
			left[Unversioned(key)] = key
		}
	}
	out := map[string]string{}
	for key := range now {
		if _, had := before[key]; had || len(left) == 0 {
			continue
		}
		if former, ok := left[Unversioned(key)]; ok {
			out[key] = former
		}
	}
	return out
}

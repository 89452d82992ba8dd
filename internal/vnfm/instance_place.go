package vnfm

import "strings"

// InstancePlace says where an instance is that the store does not know: by its ID, or by Name and what narrows it down.
type InstancePlace struct {
	// VIM is the name or the id of a VIM. Empty means all VIMs of the store.
	VIM string
	// ID is that of the instance.
	ID string
	// Namespace is that of the instance. Empty means the default namespace of the VIM.
	Namespace string
	// Name is that of the instance, or of its stack.
	Name string
	// Kind is what the instance must be.
	Kind InstanceKind
}

// InstancePlaceFormat is how users write a place.
const InstancePlaceFormat = "ID, VIM/NAME or VIM/NAMESPACE/NAME, with the name or the id of the VIM"

// ParseInstancePlace reads a place as users write it; ok is false for a text of another form.
func ParseInstancePlace(text string) (p InstancePlace, ok bool) {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if strings.TrimSpace(part) == "" {
			return InstancePlace{}, false
		}
	}
	switch len(parts) {
	case 1:
		return InstancePlace{ID: text}, true
	case 2:
		return InstancePlace{VIM: parts[0], Name: parts[1]}, true
	case 3:
		return InstancePlace{VIM: parts[0], Namespace: parts[1], Name: parts[2]}, true
	default:
		return InstancePlace{}, false
	}
}

// String writes a place as users do.
func (p InstancePlace) String() string {
	parts := []string{p.VIM, p.Namespace, p.Name}
	if p.ID != "" {
		parts = []string{p.VIM, p.ID}
	}
	var out []string
	for _, part := range parts {
		if part != "" {
			out = append(out, part)
		}
	}
	return strings.Join(out, "/")
}

// FoundInstance is what a VIM tells of an instance.
type FoundInstance struct {
	ID, Name, Namespace string
	// PackageID is the package whose objects the VIM has; empty when the Arguments tell it.
	PackageID string
	// Arguments are those that were kept there, see Target; empty when there are none.
	Arguments []byte
}

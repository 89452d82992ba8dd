package vnfm

// VIMFilter selects VIMs; empty fields select all.
type VIMFilter struct {
	Name string
	Type VIMType
}

// Selects reports whether a VIM has all that the filter asks for.
func (f VIMFilter) Selects(v *VIM) bool {
	return selects(f.Name, v.Name) && selects(f.Type, v.Type)
}

// PackageFilter selects packages; empty fields select all.
type PackageFilter struct {
	Name   string
	VNFDID string
}

// Selects reports whether a package has all that the filter asks for.
func (f PackageFilter) Selects(p *Package) bool {
	return selects(f.Name, p.Name) && (f.VNFDID == "" || p.Descriptor != nil && p.Descriptor.ID == f.VNFDID)
}

// InstanceFilter selects instances; empty fields select all.
type InstanceFilter struct {
	Kind InstanceKind
	// VIMID selects the instances that are on a VIM, have a part there or are made with its
	// credentials.
	VIMID     string
	Namespace string
	PackageID string
	Name      string
}

// Selects reports whether an instance has all that the filter asks for.
func (f InstanceFilter) Selects(i *Instance) bool {
	return selects(f.Kind, i.Kind()) && (f.VIMID == "" || i.OnVIM(f.VIMID)) &&
		selects(f.Namespace, i.Namespace) && selects(f.PackageID, i.PackageID) && selects(f.Name, i.Name)
}

// RegistryFilter selects private registries; empty fields select all.
type RegistryFilter struct {
	Name string
	// Host is the address that a registry was given, InstanceID the instance that has its server.
	Host       string
	InstanceID string
}

// Selects reports whether a private registry has all that the filter asks for.
func (f RegistryFilter) Selects(r *Registry) bool {
	return selects(f.Name, r.Spec.Name) && selects(f.Host, r.Spec.SSH.Address) && selects(f.InstanceID, r.Spec.InstanceID)
}

// selects reports whether a field of a filter is empty or the value.
func selects[T ~string](wanted, value T) bool { return wanted == "" || wanted == value }

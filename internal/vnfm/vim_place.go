package vnfm

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// VIMPlace says where a VIM is. Empty fields are not known.
type VIMPlace struct {
	Type VIMType
	// Endpoint is the URL of the API server or of Keystone.
	Endpoint string
	// The project and the region of an OpenStack.
	ProjectID, ProjectName, Region string
}

// Place is where the last check has seen the VIM, or else where it is said to be.
func (v *VIM) Place() VIMPlace {
	p := VIMPlace{Type: v.Type, Endpoint: v.Endpoint}
	if v.Kubernetes != nil {
		p.Endpoint = cmp.Or(p.Endpoint, v.Kubernetes.Endpoint)
	}
	if o := v.OpenStack; o != nil {
		p.Endpoint, p.ProjectID, p.ProjectName, p.Region = cmp.Or(p.Endpoint, o.AuthURL), o.ProjectID, o.ProjectName, o.Region
	}
	if c := v.Cloud; c != nil {
		p.ProjectID, p.ProjectName, p.Region = cmp.Or(c.ProjectID, p.ProjectID), cmp.Or(c.ProjectName, p.ProjectName), cmp.Or(c.Region, p.Region)
	}
	return p
}

// Differs reports whether two places are not the same one, as far as both are known.
func (p VIMPlace) Differs(other VIMPlace) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	switch {
	case differ(string(p.Type), string(other.Type)), differ(p.address(), other.address()), differ(p.Region, other.Region):
		return true
	case p.ProjectID != "" && other.ProjectID != "":
		return p.ProjectID != other.ProjectID
	default:
		return differ(p.ProjectName, other.ProjectName)
	}
}

// address is the endpoint in one spelling.
func (p VIMPlace) address() string {
	text := strings.TrimRight(p.Endpoint, "/")
	if p.Type == VIMTypeOpenStack {
		text = strings.TrimSuffix(text, "/v3")
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port != "" && port == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.String()
}

func (p VIMPlace) String() string {
	text := cmp.Or(p.Endpoint, "an endpoint that is not known")
	var more []string
	if project := cmp.Or(p.ProjectName, p.ProjectID); project != "" {
		more = append(more, fmt.Sprintf("project %q", project))
	}
	if p.Region != "" {
		more = append(more, fmt.Sprintf("region %q", p.Region))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/shell"
)

// ErrNotRunning says that a lab, or a part of it, does not run.
var ErrNotRunning = errors.New("the lab is not running")

// Environment is everything a client of the lab needs to know. The JSON keys are stable.
type Environment struct {
	Dir string `json:"dir"`
	// AuthURL is Keystone's, with its version.
	AuthURL string `json:"auth_url"`
	Region  string `json:"region"`
	// Domain is the name of the domain of all users and projects.
	Domain string `json:"domain"`
	// Users are those of a lab by name.
	Users map[string]EnvironmentUser `json:"users"`
	// Images, Flavors and Networks are the identifiers of what all projects can use by name.
	Images   map[string]string `json:"images"`
	Flavors  map[string]string `json:"flavors"`
	Networks map[string]string `json:"networks"`
	// Servers says what is behind the servers of Nova, ServersReason why it is nothing.
	Servers       string `json:"servers,omitempty"`
	ServersReason string `json:"servers_reason,omitempty"`
	// Systems are those that its servers can have beside the plain one.
	Systems []string `json:"systems,omitempty"`
	// RegistryArchive and SampleArchive are images for Docker, see archives.
	RegistryArchive string `json:"registry_archive,omitempty"`
	SampleArchive   string `json:"sample_archive,omitempty"`
	// Endpoints are the services of the catalogue by their kind.
	Endpoints map[string]string `json:"endpoints"`
	// Clouds is a clouds.yaml with an entry for each user.
	Clouds string         `json:"clouds_file"`
	PIDs   map[string]int `json:"pids"`
}

// EnvironmentUser is a user with his project.
type EnvironmentUser struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	Project  string `json:"project"`
}

// Environment describes a lab that runs. The error is ErrNotRunning for one that does not.
func (l *Lab) Environment() (*Environment, error) {
	state, chosen, err := l.running()
	if err != nil {
		return nil, err
	}
	return environment(l.Dir, state, chosen), nil
}

func environment(dir layout.Dir, state *layout.OpenStack, chosen []service) *Environment {
	e := &Environment{
		Dir:      string(dir),
		AuthURL:  address(state.Ports, Identity) + "/v3",
		Region:   Region,
		Domain:   DomainName,
		Users:    map[string]EnvironmentUser{},
		Images:   state.Images,
		Flavors:  state.Flavors,
		Networks: state.Networks,

		Servers: state.Servers, ServersReason: state.ServersReason, Systems: state.Systems,

		Endpoints: map[string]string{},
		Clouds:    dir.Path("clouds.yaml"),
		PIDs:      state.Processes.PIDs(),
	}
	if slices.Contains(state.Systems, servers.SystemDocker) {
		e.RegistryArchive, e.SampleArchive = dir.Path(systemsFolder, registryArchive), dir.Path(systemsFolder, sampleArchive)
	}
	for _, account := range accounts() {
		if account.User != userService {
			e.Users[account.User] = EnvironmentUser{Name: account.User, Password: state.Passwords[account.User], Project: account.Project}
		}
	}
	for _, s := range chosen {
		if !s.internal {
			e.Endpoints[s.kind] = endpoint(state.Ports, s)
		}
	}
	return e
}

// WriteJSON prints the environment as one JSON object.
func (e *Environment) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(e)
}

// WriteShell prints how the NFV user logs in, as the variables that OpenStack's own programs read.
func (e *Environment) WriteShell(w io.Writer) error {
	user := e.Users[UserNFV]
	return shell.Export(w, [][2]string{
		{"OS_AUTH_URL", e.AuthURL},
		{"OS_REGION_NAME", e.Region},
		{"OS_USERNAME", user.Name},
		{"OS_PASSWORD", user.Password},
		{"OS_USER_DOMAIN_NAME", e.Domain},
		{"OS_PROJECT_NAME", user.Project},
		{"OS_PROJECT_DOMAIN_NAME", e.Domain},
		{"OS_IDENTITY_API_VERSION", "3"},
	})
}

// writeClouds writes the clouds.yaml: cloud `lab` is the NFV user's, the others are named after their users.
func (e *Environment) writeClouds() error {
	var out strings.Builder
	out.WriteString("clouds:\n")
	entry := func(cloud string, user EnvironmentUser) {
		fmt.Fprintf(&out, "  %s:\n    region_name: %s\n    identity_api_version: 3\n    auth:\n", cloud, e.Region)
		fmt.Fprintf(&out, "      auth_url: %s\n      username: %s\n      password: %s\n      project_name: %s\n", e.AuthURL, user.Name, user.Password, user.Project)
		fmt.Fprintf(&out, "      user_domain_name: %s\n      project_domain_name: %s\n", e.Domain, e.Domain)
	}
	entry("lab", e.Users[UserNFV])
	for _, account := range accounts() {
		if user, public := e.Users[account.User]; public {
			entry(account.User, user)
		}
	}
	return layout.WriteFile(e.Clouds, []byte(out.String()))
}

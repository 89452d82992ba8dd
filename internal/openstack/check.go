package openstack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver checks OpenStack VIMs. It is safe for concurrent use.
type Driver struct {
	clients *Pool
}

var _ vnfm.VIMDriver = (*Driver)(nil)

// NewDriver returns the driver. It takes its clients from the pool.
func NewDriver(clients *Pool) *Driver { return &Driver{clients: clients} }

// CheckVIM implements vnfm.VIMDriver. It authenticates again: a token that is still good
// would hide that the credentials are not.
func (d *Driver) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	if spec.OpenStack == nil {
		return vnfm.VIMCheck{}, fmt.Errorf("VIM %q has no connection to OpenStack", spec.Name)
	}
	client, err := d.clients.Fresh(spec.Name, *spec.OpenStack, spec.Credentials)
	if err != nil {
		return vnfm.VIMCheck{}, err
	}
	return client.Check(ctx)
}

// quota is a limit that is read for a check.
type quota struct {
	service, path string
}

// quotasOf are the quotas of a project.
func quotasOf(project string) []quota {
	return []quota{
		{ServiceCompute, "/limits"},
		{ServiceNetwork, "/quotas/" + project},
	}
}

// Check authenticates and looks what the cloud offers. A Keystone that does not answer is
// a *vnfm.UnreachableError, refused credentials are a *CredentialsError. A region that
// the catalogue does not have is an error; quotas that may not be read are warnings.
func (c *Client) Check(ctx context.Context) (vnfm.VIMCheck, error) {
	check := vnfm.VIMCheck{Endpoint: c.access.AuthURL}
	c.session.RetryFunc = nil
	id, err := c.authenticated(ctx)
	if err != nil {
		return check, err
	}
	regions, services := c.catalogue(id)
	if len(services) == 0 && c.access.Region != "" && len(regions) > 0 {
		return check, &vnfm.InvalidError{Problems: vnfm.Problems{{
			Attribute: "region", Summary: fmt.Sprintf("the catalogue has no service for region %q with the interface %q", c.access.Region, c.access.Interface),
			Detail: "its regions are " + strings.Join(regions, ", "),
		}}}
	}
	check.Cloud = &vnfm.OpenStackState{
		UserID: id.user.ID, UserName: id.user.Name, ProjectID: id.project.ID, ProjectName: id.project.Name, Region: c.access.Region, Services: services,
	}
	if check.Cloud.Region == "" && len(regions) == 1 {
		check.Cloud.Region = regions[0]
	}
	check.ClusterUID = strings.TrimSuffix(id.project.ID+"@"+check.Cloud.Region, "@")
	c.readVersions(ctx, services)
	check.ServerVersion = services[ServiceIdentity].Version
	check.Roles = id.roles
	check.Quotas, check.Problems = c.readQuotas(ctx, id)
	return check, ctx.Err()
}

// catalogue returns the regions of the catalogue, and its services in the one that is
// meant.
func (c *Client) catalogue(id *identity) (regions []string, services map[string]vnfm.OpenStackService) {
	services = map[string]vnfm.OpenStackService{}
	for _, entry := range id.catalog {
		for _, e := range entry.Endpoints {
			if !slices.Contains(regions, e.Region) {
				regions = append(regions, e.Region)
			}
		}
		if at := c.endpoint(id, entry.Type); at != "" {
			services[entry.Type] = vnfm.OpenStackService{Endpoint: at}
		}
	}
	slices.Sort(regions)
	return regions, services
}

// readVersions asks each service which version it is. One that does not say so is in the
// catalogue all the same.
func (c *Client) readVersions(ctx context.Context, services map[string]vnfm.OpenStackService) {
	var mu sync.Mutex
	var all sync.WaitGroup
	// The answers are written while the others are still to be asked.
	for kind, s := range maps.Clone(services) {
		all.Go(func() {
			version, micro := c.versionOf(ctx, s.Endpoint)
			mu.Lock()
			defer mu.Unlock()
			services[kind] = vnfm.OpenStackService{Endpoint: s.Endpoint, Version: version, Microversion: micro}
		})
	}
	all.Wait()
}

// apiVersion is how services describe a version of their API.
type apiVersion struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Version is the newest microversion; older services call it max_version.
	Version    string `json:"version"`
	MaxVersion string `json:"max_version"`
}

// maxVersions bounds what is read of a list of versions.
const maxVersions = 1 << 20

// versionOf reads the current version of the API at an endpoint. Lists of versions are
// open to everybody, and are asked for without the token.
func (c *Client) versionOf(ctx context.Context, endpoint string) (version, microversion string) {
	base, err := utils.BaseEndpoint(endpoint)
	if err != nil {
		return "", ""
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/", nil)
	if err != nil {
		return "", ""
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.session.UserAgent.Join())
	resp, err := c.session.HTTPClient.Do(req)
	if err != nil {
		return "", ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxVersions))
	if err != nil {
		return "", ""
	}
	for _, v := range versionsIn(body) {
		if v.Status == "CURRENT" || v.Status == "stable" || version == "" {
			version, microversion = v.ID, v.Version
			microversion = cmp.Or(microversion, v.MaxVersion)
			if v.Status == "CURRENT" || v.Status == "stable" {
				break
			}
		}
	}
	return version, microversion
}

// versionsIn reads a list of versions in the forms that services have.
func versionsIn(body []byte) []apiVersion {
	var list struct {
		Versions json.RawMessage `json:"versions"`
		Version  *apiVersion     `json:"version"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	if list.Version != nil {
		return []apiVersion{*list.Version}
	}
	var versions []apiVersion
	if json.Unmarshal(list.Versions, &versions) == nil {
		return versions
	}
	var values struct {
		Values []apiVersion `json:"values"`
	}
	if json.Unmarshal(list.Versions, &values) != nil {
		return nil
	}
	return values.Values
}

// limits is what services answer of their quotas: Nova has limits and what is used of them, Neutron limits.
type limits struct {
	Limits struct {
		Absolute map[string]json.RawMessage `json:"absolute"`
	} `json:"limits"`
	Quota map[string]json.RawMessage `json:"quota"`
}

// usedOf are the limits of Nova by what is used of them.
var usedOf = map[string]string{
	"maxTotalInstances": "totalInstancesUsed", "maxTotalCores": "totalCoresUsed", "maxTotalRAMSize": "totalRAMUsed", "maxServerGroups": "totalServerGroupsUsed",
}

// number is a number as it is written; empty for anything else.
func number(text json.RawMessage) string {
	var n json.Number
	if json.Unmarshal(text, &n) != nil {
		return ""
	}
	return n.String()
}

// quotas are the limits of a service in the order of their names.
func (l *limits) quotas(service string) []vnfm.VIMQuota {
	var out []vnfm.VIMQuota
	for _, name := range slices.Sorted(maps.Keys(usedOf)) {
		if limit := number(l.Limits.Absolute[name]); limit != "" {
			out = append(out, vnfm.VIMQuota{Service: service, Name: name, Limit: limit, Used: number(l.Limits.Absolute[usedOf[name]])})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Quota)) {
		if limit := number(l.Quota[name]); limit != "" {
			out = append(out, vnfm.VIMQuota{Service: service, Name: name, Limit: limit})
		}
	}
	return out
}

// readQuotas reads the quotas of services that are there, and finds those that cannot be read.
func (c *Client) readQuotas(ctx context.Context, id *identity) (all []vnfm.VIMQuota, problems vnfm.Problems) {
	quotas := quotasOf(id.project.ID)
	found, read := make([]error, len(quotas)), make([]limits, len(quotas))
	var asked sync.WaitGroup
	for i, q := range quotas {
		if c.endpoint(id, q.service) == "" {
			continue
		}
		asked.Go(func() {
			found[i] = c.do(ctx, call{doing: "reading the quotas of " + q.service, service: q.service, path: q.path, out: &read[i]})
		})
	}
	asked.Wait()
	for i, err := range found {
		all = append(all, read[i].quotas(quotas[i].service)...)
		if err != nil {
			problems = append(problems, vnfm.Problem{
				Severity: vnfm.SeverityWarning,
				Summary:  fmt.Sprintf("the quotas of %s cannot be read on %s", quotas[i].service, c.peer.Name),
				Detail:   err.Error() + "; without them, plans cannot warn before a quota is exceeded",
			})
		}
	}
	return all, problems
}

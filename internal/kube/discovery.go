package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/agext/levenshtein"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// aggregatedDiscovery requests all kinds at once (since Kubernetes 1.27), or the plain list of
// groups from an older server.
const aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// discoveryCache holds the snapshot that all callers share.
type discoveryCache struct {
	mu       sync.Mutex
	snapshot *snapshot
}

// snapshot is the discovery of the server at one moment.
type snapshot struct {
	taken time.Time
	kinds map[schema.GroupVersionKind]Resource
	// versions are the group versions; each group's are in the server's order of preference.
	versions []schema.GroupVersion
	// partial are group versions with unknown kinds: the server has no aggregated discovery, or
	// could not reach the extension that serves them.
	partial map[schema.GroupVersion]bool
}

// Resource returns the discovery of a kind. The first call takes a snapshot of all kinds with two
// requests. A kind missing there is looked up in a new snapshot and in its own group version. A
// kind in neither is an *UnknownKindError.
func (c *Client) Resource(ctx context.Context, gvk schema.GroupVersionKind) (Resource, error) {
	asked := time.Now()
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	s, err := c.takeSnapshot(ctx)
	if err != nil {
		return Resource{}, err
	}
	if r, ok := s.kinds[gvk]; ok {
		return r, nil
	}
	if s.partial[gvk.GroupVersion()] {
		if r, ok, err := c.lookInVersion(ctx, s, gvk); ok || err != nil {
			return r, err
		}
	}
	if s.taken.Before(asked) {
		c.discovery.snapshot = nil
		if s, err = c.takeSnapshot(ctx); err != nil {
			return Resource{}, err
		}
		if r, ok := s.kinds[gvk]; ok {
			return r, nil
		}
	}
	// The group version serves the kind of a new definition before snapshots show it.
	r, ok, err := c.lookInVersion(ctx, s, gvk)
	switch {
	case err != nil:
		return Resource{}, err
	case ok:
		return r, nil
	default:
		return Resource{}, &UnknownKindError{GVK: gvk, Known: s.near(gvk)}
	}
}

// RefreshDiscovery discards the snapshot: the next call of Resource takes a new one.
func (c *Client) RefreshDiscovery() {
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	c.discovery.snapshot = nil
}

// GroupVersions lists the API group versions that the server serves, sorted, for
// example "apps/v1" and "v1".
func (c *Client) GroupVersions(ctx context.Context) ([]string, error) {
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	s, err := c.takeSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(s.versions))
	for _, gv := range s.versions {
		names = append(names, gv.String())
	}
	sort.Strings(names)
	return names, nil
}

// Kind is Resource for any version of a kind: it returns the one that the server prefers among the
// versions with the kind. Kinds of one group may come from several definitions, so the newest
// version of the group may lack the kind.
func (c *Client) Kind(ctx context.Context, gk schema.GroupKind) (Resource, error) {
	asked := time.Now()
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	for {
		s, err := c.takeSnapshot(ctx)
		if err != nil {
			return Resource{}, err
		}
		if r, ok, err := c.lookInGroup(ctx, s, gk); ok || err != nil {
			return r, err
		}
		if !s.taken.Before(asked) {
			gvk := gk.WithVersion("")
			return Resource{}, &UnknownKindError{GVK: gvk, Known: s.near(gvk)}
		}
		c.discovery.snapshot = nil
	}
}

// lookInGroup finds a kind in the versions of its group, in the server's order of preference.
func (c *Client) lookInGroup(ctx context.Context, s *snapshot, gk schema.GroupKind) (Resource, bool, error) {
	for _, gv := range slices.Clone(s.versions) {
		if gv.Group != gk.Group {
			continue
		}
		gvk := gv.WithKind(gk.Kind)
		if r, ok := s.kinds[gvk]; ok {
			return r, true, nil
		}
		if s.partial[gv] {
			if r, ok, err := c.lookInVersion(ctx, s, gvk); ok || err != nil {
				return r, ok, err
			}
		}
	}
	return Resource{}, false, nil
}

// takeSnapshot returns the cached snapshot or takes one. The caller holds the lock.
func (c *Client) takeSnapshot(ctx context.Context) (*snapshot, error) {
	if c.discovery.snapshot != nil {
		return c.discovery.snapshot, nil
	}
	s := &snapshot{
		taken:   time.Now(),
		kinds:   map[schema.GroupVersionKind]Resource{},
		partial: map[schema.GroupVersion]bool{},
	}
	var (
		answers [2]*response
		errs    [2]error
		wg      sync.WaitGroup
	)
	for i, path := range []string{"/api", "/apis"} {
		wg.Go(func() {
			answers[i], errs[i] = c.do(ctx, request{
				doing: "asking for", object: "the kinds that the API server serves",
				method: http.MethodGet, path: path, accept: aggregatedDiscovery,
			})
		})
	}
	wg.Wait()
	for i, res := range answers {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if err := s.add(res); err != nil {
			return nil, fmt.Errorf("reading the discovery of %s: %w", c.endpoint, err)
		}
	}
	c.discovery.snapshot = s
	return s, nil
}

func (s *snapshot) add(res *response) error {
	if strings.Contains(res.header.Get("Content-Type"), "as=APIGroupDiscoveryList") {
		return s.addAggregated(res.body)
	}
	return s.addGroups(res.body)
}

// groupDiscoveryList has the used fields of apidiscovery.k8s.io/v2; v2beta1 has the same form.
type groupDiscoveryList struct {
	Items []struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Versions []struct {
			Version   string              `json:"version"`
			Resources []resourceDiscovery `json:"resources"`
			Freshness string              `json:"freshness"`
		} `json:"versions"`
	} `json:"items"`
}

type resourceDiscovery struct {
	Resource     string                   `json:"resource"`
	ResponseKind *metav1.GroupVersionKind `json:"responseKind"`
	Scope        string                   `json:"scope"`
	Verbs        []string                 `json:"verbs"`
	Subresources []struct {
		Subresource string `json:"subresource"`
	} `json:"subresources"`
}

func (s *snapshot) addAggregated(body []byte) error {
	var list groupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	for _, g := range list.Items {
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Metadata.Name, Version: v.Version}
			s.versions = append(s.versions, gv)
			if v.Freshness == "Stale" {
				s.partial[gv] = true
			}
			for _, r := range v.Resources {
				if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
					continue
				}
				res := Resource{
					// A manifest names the group that serves the kind. The kind of the answer may
					// belong to another group.
					GVK:        gv.WithKind(r.ResponseKind.Kind),
					GVR:        gv.WithResource(r.Resource),
					Namespaced: r.Scope == "Namespaced",
					Verbs:      sorted(r.Verbs),
				}
				for _, sub := range r.Subresources {
					res.Scale = res.Scale || sub.Subresource == "scale"
				}
				s.kinds[res.GVK] = res
			}
		}
	}
	return nil
}

// addGroups reads the answers of a server without aggregated discovery.
func (s *snapshot) addGroups(body []byte) error {
	var list struct {
		Kind     string            `json:"kind"`
		Versions []string          `json:"versions"`
		Groups   []metav1.APIGroup `json:"groups"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	if list.Kind != "APIVersions" && list.Kind != "APIGroupList" {
		return fmt.Errorf("the answer is of kind %q; is the endpoint an API server?", list.Kind)
	}
	addVersion := func(group, version string) {
		gv := schema.GroupVersion{Group: group, Version: version}
		s.versions = append(s.versions, gv)
		s.partial[gv] = true
	}
	for _, v := range list.Versions {
		addVersion("", v)
	}
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			addVersion(g.Name, v.Version)
		}
	}
	return nil
}

// lookInVersion reads the kinds of one group version and adds them to s.
func (c *Client) lookInVersion(ctx context.Context, s *snapshot, gvk schema.GroupVersionKind) (Resource, bool, error) {
	gv := gvk.GroupVersion()
	res, err := c.do(ctx, request{
		doing: "asking for", object: "the kinds of " + gv.String(),
		method: http.MethodGet, path: groupVersionPath(gv),
	})
	if apierrors.IsNotFound(err) {
		return Resource{}, false, nil
	}
	if err != nil {
		return Resource{}, false, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(res.body, &list); err != nil {
		return Resource{}, false, fmt.Errorf("reading the kinds of %s: %w", gv, err)
	}
	scaled := map[string]bool{}
	for _, r := range list.APIResources {
		if name, ok := strings.CutSuffix(r.Name, "/scale"); ok {
			scaled[name] = true
		}
	}
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") || r.Kind == "" {
			continue
		}
		s.kinds[gv.WithKind(r.Kind)] = Resource{
			GVK: gv.WithKind(r.Kind), GVR: gv.WithResource(r.Name), Namespaced: r.Namespaced,
			Scale: scaled[r.Name], Verbs: sorted(r.Verbs),
		}
	}
	delete(s.partial, gv)
	if !slices.Contains(s.versions, gv) {
		s.versions = append(s.versions, gv)
	}
	r, ok := s.kinds[gvk]
	return r, ok, nil
}

func sorted(in []string) []string {
	out := slices.Clone(in)
	sort.Strings(out)
	return out
}

// near returns up to five served kinds with a similar name, the nearest first.
func (s *snapshot) near(gvk schema.GroupVersionKind) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for k := range s.kinds {
		d := levenshtein.Distance(strings.ToLower(k.Kind), strings.ToLower(gvk.Kind), nil)
		if d > 1+len(gvk.Kind)/5 {
			continue
		}
		// The distance of the kind counts twice, so that the same kind of another group precedes
		// another kind of the same group.
		d *= 2
		if k.Group != gvk.Group {
			d++
		}
		found = append(found, candidate{k.GroupVersion().String() + " " + k.Kind, d})
	}
	sort.Slice(found, func(i, j int) bool {
		if found[i].distance != found[j].distance {
			return found[i].distance < found[j].distance
		}
		return found[i].name < found[j].name
	})
	var names []string
	for _, f := range found[:min(5, len(found))] {
		names = append(names, f.name)
	}
	return names
}

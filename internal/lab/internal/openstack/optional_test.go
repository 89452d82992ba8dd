package openstack

import (
	"slices"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// TestLacking shows which services a lab can get that was started with others.
func TestLacking(t *testing.T) {
	all := kindsOf(usual())
	for name, test := range map[string]struct {
		has, asked, want []string
		problem          string
	}{
		"an optional one":       {has: all, asked: []string{Compute, LoadBalancer}, want: []string{LoadBalancer}},
		"what it has":           {has: append(slices.Clone(all), LoadBalancer), asked: []string{LoadBalancer, Image}},
		"nothing":               {has: all},
		"without what it needs": {has: []string{Identity}, asked: []string{LoadBalancer}, problem: "has identity, and not load-balancer: stop it first"},
		"not an optional one":   {has: []string{Identity}, asked: []string{Image}, problem: "and not image: stop it first"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&Lab{}).lacking(&layout.OpenStack{Services: test.has}, test.asked)
			if test.problem == "" && (err != nil || !slices.Equal(got, test.want)) {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
			if test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got error %v, want %q", err, test.problem)
			}
		})
	}
	if slices.Contains(all, LoadBalancer) {
		t.Errorf("a lab has %s unasked", LoadBalancer)
	}
}

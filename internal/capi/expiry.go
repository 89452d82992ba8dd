package capi

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/cloud"
)

// authorities are the purposes of the Secrets with the certificate authorities of a cluster. The Secret "sa" of the service accounts
// is left out: it holds a pair of keys, which does not expire.
var authorities = []string{purposeCA, "etcd", "proxy"}

// authoritiesNotAfter returns the time at which the first certificate authority of the cluster expires; zero when none can be read.
// A control plane provider may have no such Secrets, and an account may read only some Secrets. Each is read by name, because a list
// would also return the user data of the machines.
func (c *cluster) authoritiesNotAfter(ctx context.Context) (time.Time, error) {
	ends := make([]time.Time, len(authorities))
	var secrets errgroup.Group
	for i, purpose := range authorities {
		secrets.Go(func() error {
			secret, err := c.secret(ctx, purpose)
			switch {
			case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			case err != nil:
				return err
			default:
				if text, err := cloud.SecretValue(secret, "tls.crt"); err == nil {
					ends[i] = certificateNotAfter(text)
				}
			}
			return nil
		})
	}
	err := secrets.Wait()
	var first time.Time
	for _, end := range ends {
		first = earlier(first, end)
	}
	return first, err
}

// certificateNotAfter returns the time at which the first certificate of a PEM chain expires; zero when none can be read.
func certificateNotAfter(text string) time.Time {
	var first time.Time
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			first = earlier(first, certificate.NotAfter)
		}
	}
	return first
}

// machinesNotAfter returns the time at which the first certificate of a control plane machine expires, as reported by Cluster API.
func machinesNotAfter(machines []unstructured.Unstructured) time.Time {
	var first time.Time
	for i := range machines {
		if _, ofControlPlane := machines[i].GetLabels()[labelControl]; !ofControlPlane || machines[i].GetDeletionTimestamp() != nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, text(&machines[i], "status", "certificatesExpiryDate")); err == nil {
			first = earlier(first, at)
		}
	}
	return first
}

// earlier returns the earlier one of two times, in UTC. A zero time is ignored.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b.UTC()
	}
	return a.UTC()
}

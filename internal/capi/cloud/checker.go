package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloudLimit bounds the requests to an OpenStack during a plan.
const cloudLimit = 20 * time.Second

// Checker checks workload clusters against their OpenStack.
type Checker struct {
	Clouds *openstack.Pool
	// Cluster returns the cluster of a target on its management cluster.
	Cluster func(t *vnfm.Target) (*Cluster, error)
}

// Check looks up, in its OpenStack, the resources that the objects of a cluster name. A missing
// resource is a warning when it is given by name, since the same apply may create it, and an
// error when it is given by id. A cloud that does not answer is one warning.
func (k *Checker) Check(ctx context.Context, t *vnfm.Target) vnfm.Problems {
	problems, err := k.query(ctx, t, false)
	if err != nil {
		detail := err.Error()
		if isEdited(err) {
			detail += "; find out who edited the store, and register the VIM again"
		}
		return append(problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "openstack",
			//findings:says the detail says why; the apply tries again
			Summary: fmt.Sprintf("workload cluster %q was not tried on its OpenStack", t.Instance.Cluster.Name), Detail: detail,
		})
	}
	return problems
}

// AddProblems adds missing resources of the OpenStack to an error of an operation. Cluster API
// Provider OpenStack reports rejected credentials, and an image or flavor that was deleted after
// the plan, in its log alone.
func (k *Checker) AddProblems(ctx context.Context, t *vnfm.Target, err error) error {
	if t.Instance.Cluster.OpenStack == nil || errors.Is(ctx.Err(), context.Canceled) || IsExplained(err) {
		return err
	}
	problems, silence := k.query(context.WithoutCancel(ctx), t, true)
	for _, p := range problems {
		err = fmt.Errorf("%w\n* %s: %s", err, p.Summary, p.Detail)
	}
	switch {
	case silence == nil:
	case isEdited(silence):
		// The advice follows from the type of the error.
		err = fmt.Errorf("%w\n* its OpenStack was not asked: %w", err, silence)
	default:
		err = fmt.Errorf("%w\n* its OpenStack does not answer: %s", err, silence.Error())
	}
	return err
}

// ServerFault returns the fault message of a server in Nova; empty if there is none, or if the cluster has no OpenStack VIM.
func (k *Checker) ServerFault(ctx context.Context, t *vnfm.Target, id string) string {
	if t.Instance.Cluster.OpenStack == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, cloudLimit)
	defer cancel()
	client, err := k.client(ctx, t)
	if err != nil {
		return ""
	}
	server, err := client.Server(ctx, id)
	if err != nil {
		return ""
	}
	return server.Fault.Message
}

func isEdited(err error) bool {
	_, ok := errors.AsType[*vnfm.EditedError](err)
	return ok
}

// IsExplained reports whether an error needs no explanation by the cluster or its OpenStack:
// the request is invalid, or an object has another owner.
func IsExplained(err error) bool {
	var invalid *vnfm.InvalidError
	var conflict *vnfm.ConflictError
	return errors.As(err, &invalid) || errors.As(err, &conflict)
}

// query checks a cluster against its OpenStack; with absentOnly it reports missing resources alone.
func (k *Checker) query(ctx context.Context, t *vnfm.Target, absentOnly bool) (vnfm.Problems, error) {
	ctx, cancel := context.WithTimeout(ctx, cloudLimit)
	defer cancel()
	spec := t.Instance.Cluster
	q := &cloudCheck{ctx: ctx, spec: spec, absentOnly: absentOnly}
	var err error
	if q.objects, err = k.cloudObjects(ctx, t); err == nil {
		if !absentOnly {
			q.checkIdentities()
		}
		if q.client, err = k.client(ctx, t); errors.Is(err, vnfm.ErrNotFound) {
			// The same apply registers the VIM.
			return q.problems, nil
		}
	}
	if err == nil {
		err = q.checkObjects()
	}
	if err == nil && !absentOnly && q.instances > 0 && t.Instance.ID == "" && !t.AdoptExisting {
		// The quota in use already includes the machines of an existing cluster.
		err = q.quota()
	}
	return q.problems, err
}

// client returns a client of the OpenStack of a cluster.
func (k *Checker) client(ctx context.Context, t *vnfm.Target) (*openstack.Client, error) {
	vim, creds, err := t.Access(ctx, t.Instance.Cluster.OpenStack.VIMID)
	if err != nil {
		return nil, err
	}
	return k.Clouds.Client(vim.Name, vim.OpenStack, creds)
}

// cloudObjects returns the objects of a cluster that name resources of its OpenStack: the rendered
// objects, or the objects that Cluster API creates for its topology.
func (k *Checker) cloudObjects(ctx context.Context, t *vnfm.Target) ([]map[string]any, error) {
	if t.Instance.Cluster.Topology != nil {
		c, err := k.Cluster(t)
		if err != nil {
			return nil, err
		}
		return c.classObjects(ctx)
	}
	text, err := fs.ReadFile(t.Package.Content, forms.ManifestFile)
	if err != nil {
		return nil, err
	}
	return forms.Decode(string(text))
}

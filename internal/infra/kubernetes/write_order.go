package kubernetes

import (
	"context"
	"slices"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
)

// Workloads do not wait for all of the configuration: their pods need what they read, and what works on them without being named,
// such as rights, policies and Services. Other ConfigMaps and Secrets are written while the pods start. A workload whose pods may read
// more than their template tells waits for everything.

// overlap reports whether configuration and workloads may be written at the same time: nothing is to be done between them.
func (s *session) overlap(plan *applyPlan) bool {
	return s.target.Hooks.Defer == nil && len(ofWave(s.requests, render.WaveConfiguration)) == 0 && len(ofWave(plan.target, render.WaveWorkload)) > 0
}

// plainVolumes are the kinds of volumes of a pod that read no ConfigMap or Secret but those that render knows of.
var plainVolumes = []string{"name", "configMap", "secret", "projected", "emptyDir", "downwardAPI", "hostPath", "persistentVolumeClaim"}

// writeOrder is an order in which objects are written at the same time.
type writeOrder struct {
	mu      sync.Mutex
	changed *sync.Cond
	all     []*orderedWrite
	// general and configuration are the numbers of objects that are not written yet: of those that every workload needs, and of all
	// that are no workloads.
	general, configuration int
	errs                   []error
}

type orderedWrite struct {
	p     *targetObject
	taken bool
	done  bool
	// workload is set for an object that waits for others: for all configuration, unless it is early.
	workload, early bool
	// general is set for an object that every workload needs; reads are the others that this one needs.
	general bool
	reads   []*orderedWrite
}

// newWriteOrder orders objects of the waves of configuration and of workloads: what workloads need, workloads, everything else.
func newWriteOrder(batch []*targetObject) *writeOrder {
	o := &writeOrder{}
	o.changed = sync.NewCond(&o.mu)
	byIdentity := map[render.Identity]*orderedWrite{}
	readers, pulls := apiReaders(batch), pulledWith(batch)
	for _, p := range batch {
		w := &orderedWrite{p: p, workload: p.wave == render.WaveWorkload}
		w.general = !w.workload && (!isConfiguration(p) || p.item.Kind == "Secret" && pulls[p.item.Name])
		byIdentity[render.IdentityOf(&p.item)] = w
		o.all = append(o.all, w)
		if !w.workload {
			o.configuration++
		}
		if w.general {
			o.general++
		}
	}
	needed := map[*orderedWrite]bool{}
	for _, w := range o.all {
		if w.early = w.workload && readsKnown(w.p, readers); !w.early {
			continue
		}
		for _, id := range w.p.object.Reads() {
			source := byIdentity[id]
			if source == nil {
				w.early = false
				break
			}
			w.reads = append(w.reads, source)
			needed[source] = true
		}
	}
	rank := func(w *orderedWrite) int {
		switch {
		case w.general || needed[w]:
			return 0
		case w.workload:
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(o.all, func(a, b *orderedWrite) int { return rank(a) - rank(b) })
	return o
}

func isConfiguration(p *targetObject) bool {
	return p.item.Group == "" && (p.item.Kind == "ConfigMap" || p.item.Kind == "Secret")
}

// apiReaders are the names of the ServiceAccounts that the objects give rights to; "" is any.
func apiReaders(batch []*targetObject) map[string]bool {
	out := map[string]bool{}
	for _, p := range batch {
		if p.object == nil || p.item.Group != "rbac.authorization.k8s.io" {
			continue
		}
		subjects, _ := p.object.Field("subjects").([]any)
		for _, subject := range subjects {
			switch fields, _ := subject.(map[string]any); fields["kind"] {
			case "ServiceAccount":
				name, _ := fields["name"].(string)
				out[name] = true
			case "Group":
				out[""] = true
			}
		}
	}
	return out
}

// pulledWith are the names of the Secrets that ServiceAccounts name.
func pulledWith(batch []*targetObject) map[string]bool {
	out := map[string]bool{}
	for _, p := range batch {
		if p.object == nil || p.item.Group != "" || p.item.Kind != "ServiceAccount" {
			continue
		}
		for _, field := range []string{"imagePullSecrets", "secrets"} {
			for _, name := range namesIn(p.object.Field(field)) {
				out[name] = true
			}
		}
	}
	return out
}

func namesIn(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if name, ok := fields["name"].(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// readsKnown reports whether the pods of a workload read no ConfigMap or Secret but those that its template names and render knows of.
func readsKnown(p *targetObject, apiReaders map[string]bool) bool {
	if p.object == nil || apiReaders[""] {
		return false
	}
	path, ok := render.PodOf(p.item.Group, p.item.Kind)
	if !ok {
		return false
	}
	spec, ok := p.object.Field(append(slices.Clone(path), "spec")...).(map[string]any)
	if !ok || len(namesIn(spec["imagePullSecrets"])) > 0 {
		return false
	}
	account := "default"
	for _, field := range []string{"serviceAccount", "serviceAccountName"} {
		if name, _ := spec[field].(string); name != "" {
			account = name
		}
	}
	if apiReaders[account] {
		return false
	}
	volumes, _ := spec["volumes"].([]any)
	for _, volume := range volumes {
		fields, _ := volume.(map[string]any)
		for kind := range fields {
			if !slices.Contains(plainVolumes, kind) {
				return false
			}
		}
	}
	return true
}

// take returns the next object to write, nil when there is none or one has failed.
func (o *writeOrder) take(ctx context.Context) *orderedWrite {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if len(o.errs) > 0 || ctx.Err() != nil {
			return nil
		}
		o.all = dropTaken(o.all)
		for _, w := range o.all {
			if !w.taken && o.ready(w) {
				w.taken = true
				return w
			}
		}
		if len(o.all) == 0 {
			return nil
		}
		o.changed.Wait()
	}
}

// dropTaken drops the first objects that are taken.
func dropTaken(all []*orderedWrite) []*orderedWrite {
	for len(all) > 0 && all[0].taken {
		all = all[1:]
	}
	return all
}

// ready reports whether all is written that an object needs; the caller holds the lock.
func (o *writeOrder) ready(w *orderedWrite) bool {
	switch {
	case !w.workload:
		return true
	case !w.early:
		return o.configuration == 0
	default:
		return o.general == 0 && !slices.ContainsFunc(w.reads, func(source *orderedWrite) bool { return !source.done })
	}
}

func (o *writeOrder) end(w *orderedWrite, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.done = err == nil; !w.done {
		o.errs = append(o.errs, err)
	} else if !w.workload {
		o.configuration--
		if w.general {
			o.general--
		}
	}
	o.changed.Broadcast()
}

// writeOrdered writes objects of the waves of configuration and of workloads, with as many requests at a time as the target allows.
// After the first error no new write begins.
func (s *session) writeOrdered(ctx context.Context, batch []*targetObject, done *counter) error {
	o := newWriteOrder(batch)
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Broadcast()
	})
	defer stop()
	var workers sync.WaitGroup
	for range min(s.workers, len(batch)) {
		workers.Go(func() {
			for w := o.take(ctx); w != nil; w = o.take(ctx) {
				err := s.writeObject(ctx, w.p)
				if err == nil {
					done.add(ctx)
				}
				o.end(w, err)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil && len(o.errs) == 0 && len(dropTaken(o.all)) > 0 {
		o.errs = append(o.errs, err)
	}
	return joinErrors(o.errs)
}

package helm

import (
	"encoding/json"
	"maps"
	"slices"
)

// Helm renders a release as an installation first and as upgrades with rising numbers afterwards. The results remember which inputs
// were rendered as which revision, so that a plan without a change renders the same again.

// RenderedRelease is what is remembered of one release of the chart.
type RenderedRelease struct {
	// Revisions were rendered by an apply, the present one last.
	Revisions []Revision `json:"revisions,omitempty"`
	// Made counts them, and each return to a former one: Helm's records count rollbacks as well.
	Made int `json:"made,omitempty"`
	// Secrets are the Secrets of the present revision by namespace and name, for lookups without an answer of the VIM.
	Secrets map[string]json.RawMessage `json:"secrets,omitempty"`
	// Idle counts the revisions of other releases since.
	Idle int `json:"idle,omitempty"`
}

// Revision is a rendering of certain inputs.
type Revision struct {
	// Inputs is the digest of chart, values and capabilities.
	Inputs string `json:"inputs"`
	// Number is .Release.Revision; 1 is an installation.
	Number int `json:"number"`
	// Found are the answers of lookup by Lookup.String; null for nothing.
	Found map[string]json.RawMessage `json:"found,omitempty"`
}

// releaseOf returns a copy of what is remembered of the release of the options.
func (r *Results) releaseOf(o *Options) RenderedRelease {
	if own := r.Releases[releaseKey(o)]; own != nil {
		return *own
	}
	return RenderedRelease{}
}

// releaseKey distinguishes releases as Helm does.
func releaseKey(o *Options) string { return o.Namespace + "/" + o.Release }

// present is the revision that was rendered last.
func (r *RenderedRelease) present() Revision {
	if n := len(r.Revisions); n > 0 {
		return r.Revisions[n-1]
	}
	return Revision{}
}

// revision is the one that inputs are rendered as. All that an update makes of changed inputs is one revision, whatever its operations
// are: the plan, which sees the last of them alone, has the same number. Before are the results as they were before the update.
func (r *Results) revision(o *Options, before *Results, inputs string) Revision {
	own, was := r.releaseOf(o), before.releaseOf(o)
	if o.New {
		was = RenderedRelease{}
	}
	next := Revision{Inputs: inputs, Number: was.Made + 1}
	if present := own.present(); present.Inputs == inputs && (!o.New || present.Number == next.Number) {
		return present
	}
	if o.Restores {
		for _, old := range slices.Backward(own.Revisions) {
			if old.Inputs == inputs {
				return old
			}
		}
	}
	return next
}

// releases are the releases once a rendering is the present revision.
func (k *calls) releases(r *Rendering) map[string]*RenderedRelease {
	out := map[string]*RenderedRelease{}
	own := k.known.releaseOf(k.options)
	another := own.present().Inputs != k.inputs
	for key, other := range k.known.Releases {
		kept := *other
		if another {
			kept.Idle++
		}
		if kept.Idle <= maxIdle {
			out[key] = &kept
		}
	}
	made := Revision{Inputs: k.inputs, Number: k.revision.Number, Found: k.answers}
	revisions := slices.DeleteFunc(slices.Clone(own.Revisions), func(old Revision) bool { return old.Inputs == made.Inputs && old.Number == made.Number })
	if revisions = append(revisions, made); len(revisions) > maxIdle {
		revisions = revisions[len(revisions)-maxIdle:]
	}
	count := own.Made
	if present := own.present(); present.Inputs != made.Inputs || present.Number != made.Number {
		count++
	}
	if k.options.New {
		count = 1
	}
	own = RenderedRelease{Revisions: revisions, Made: count}
	if k.looked {
		own.Secrets = r.secrets()
	}
	out[releaseKey(k.options)] = &own
	return out
}

// forgetFound drops the answers of former revisions, which only a rollback needs.
func (r *Results) forgetFound() {
	releases := maps.Clone(r.Releases)
	for key, own := range releases {
		kept := *own
		kept.Revisions = slices.Clone(own.Revisions)
		for i := range len(kept.Revisions) - 1 {
			kept.Revisions[i].Found = nil
		}
		releases[key] = &kept
	}
	r.Releases = releases
}

package lcm_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const secretObject = "v1/Secret s"

// keeper is a driver with a Secret among its objects, which keeps the key of their digests
// beside them.
type keeper struct {
	*driver
	key    []byte
	silent bool
	// lost is set where others than the user can read what the VIM keeps.
	lost bool
}

func (k *keeper) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	p, ps := k.driver.Preview(ctx, t)
	if p.Objects[secretObject] = ""; len(t.DigestKey) > 0 {
		mac := hmac.New(sha256.New, t.DigestKey)
		mac.Write([]byte("hunter2"))
		p.Objects[secretObject] = hex.EncodeToString(mac.Sum(nil))
	}
	return p, ps
}

func (k *keeper) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	if err := k.driver.Apply(ctx, t, r); err != nil {
		return err
	}
	p, _ := k.Preview(ctx, t)
	k.objects[secretObject], k.key = p.Objects[secretObject], t.DigestKey
	return nil
}

func (k *keeper) DigestKey(context.Context, *vnfm.Target) ([]byte, error) {
	if k.silent {
		return nil, errors.New("no route to host")
	}
	if k.lost {
		return nil, fmt.Errorf("reading: %w", vnfm.ErrKeyLost)
	}
	return k.key, nil
}

func newKeeper(t *testing.T) (*env, *keeper) {
	t.Helper()
	w := newEnv(t)
	k := &keeper{driver: w.driver}
	w.Engine = w.openWith(t, onKubernetes(k))
	return w, k
}

// summed is the digest of the Secret in a preview.
func (w *env) summed(t *testing.T, id string) string {
	t.Helper()
	p, problems, err := w.PreviewInstance(t.Context(), id, w.spec())
	require.NoError(t, err)
	require.Empty(t, problems)
	return p.Objects[secretObject]
}

// updated is the number of operations that an update to the same spec takes.
func (w *env) updated(t *testing.T, id string) int {
	t.Helper()
	before := len(w.operations(t, id))
	require.NoError(t, second(w.Update(t.Context(), id, w.spec())))
	return len(w.operations(t, id)) - before
}

// TestDigestKeyOfAnInstance: the digests of a new instance are unknown until it has a key of
// its own, and stay whatever happens to the key of the store and to the store.
func TestDigestKeyOfAnInstance(t *testing.T) {
	w, k := newKeeper(t)
	require.Empty(t, w.summed(t, ""), "the digest of a new instance is known")
	i := w.mustInstantiate(t, w.spec())
	made := w.summed(t, i.ID)
	require.NotEmpty(t, made, "planned")
	require.Equal(t, k.objects[secretObject], made, "planned")
	if other, err := w.Instantiate(t.Context(), named(w.spec(), "other")); err != nil || string(other.DigestKey) == string(i.DigestKey) {
		t.Errorf("two instances have the same key (%v)", err)
	}
	k.key, k.objects[secretObject] = i.DigestKey, made

	t.Run("another key of the store", func(t *testing.T) {
		require.NoError(t, w.Close())
		require.NoError(t, os.Remove(filepath.Join(w.dir, "key.txt")))
		// The credentials and the package were sealed with the old one.
		w.again(t, k)
		require.Equal(t, made, w.summed(t, i.ID), "digest")
		require.Equal(t, 0, w.updated(t, i.ID), "operations")
	})
	t.Run("another machine", func(t *testing.T) {
		w.dir = t.TempDir()
		w.again(t, k)
		require.Equal(t, made, w.summed(t, i.ID), "digest")
		k.silent = true
		require.Empty(t, w.summed(t, i.ID), "digest")
		require.Error(t, second(w.Update(t.Context(), i.ID, w.spec())), "the record was written without the key")
		k.silent = false
		require.NoError(t, second(w.Update(t.Context(), i.ID, w.spec())))
		require.Equal(t, made, w.summed(t, i.ID), "digest")
		require.Equal(t, made, k.objects[secretObject], "digest")
	})
	t.Run("another machine, and no key on the VIM", func(t *testing.T) {
		w.dir, k.lost = t.TempDir(), true
		w.again(t, k)
		require.Empty(t, w.summed(t, i.ID), "digest")
		require.NoError(t, second(w.Update(t.Context(), i.ID, w.spec())))
		if got := w.summed(t, i.ID); got == "" || got == made || got != k.objects[secretObject] {
			t.Errorf("digest %s, made %s, before %s", got, k.objects[secretObject], made)
		}
		require.Equal(t, 0, w.updated(t, i.ID), "operations")
	})
}

// again opens the store once more, and registers its VIM and its package again.
func (w *env) again(t *testing.T, k *keeper) {
	t.Helper()
	w.Engine = w.openWith(t, onKubernetes(k))
	spec := vaultVIM()
	_, _, err := w.UpdateVIM(t.Context(), w.vimID, spec)
	if errors.Is(err, vnfm.ErrNotFound) {
		_, _, err = w.RegisterVIM(t.Context(), w.vimID, spec)
	}
	require.NoError(t, err)
	w.onboard(t, "1.0")
}

// TestContentsThatAreNotThere loses the key of the store, or the contents: a refresh of the package says so, and onboarding it stores them
// again, also from a source that the store has the checksum or the ETag of.
func TestContentsThatAreNotThere(t *testing.T) {
	for name, test := range map[string]struct {
		lose func(t *testing.T, w *env)
		want error
	}{
		"key": {func(t *testing.T, w *env) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(w.dir, "key.txt")))
		}, vnfm.ErrUnopened},
		"contents": {func(t *testing.T, w *env) {
			t.Helper()
			require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "blobs", "sha256")))
		}, vnfm.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			zip, other := zipped(t, "2.0"), zipped(t, "3.0")
			checked := vnfm.PackageSpec{Name: "checked", Source: newPackageServer(t, zip).URL + "/p.csar", Checksum: "sha256:" + digestOf(zip), Integrity: "enforce", Signature: "verify_if_present", Share: "one"}
			tagged, local := checked, checked
			tagged.Name, tagged.Source, tagged.Checksum = "tagged", newPackageServer(t, other).URL+"/p.csar", ""
			local.Name, local.Source, local.Checksum = "local", filepath.Join(w.sources, "1.0"), ""
			specs := []vnfm.PackageSpec{checked, tagged, local}
			ids := make([]string, len(specs))
			for i, spec := range specs {
				p, problems, err := w.OnboardPackage(t.Context(), spec, "")
				require.NoError(t, errors.Join(err, problems.Err()))
				ids[i] = p.ID
				require.NoError(t, second(w.HoldPackage(t.Context(), p.ID, "one")))
			}
			require.NoError(t, w.Close())
			test.lose(t, w)
			w.Engine = w.open(t)
			for i, spec := range specs {
				require.ErrorIs(t, second(w.HoldPackage(t.Context(), ids[i], "one")), test.want, spec.Name)
				_, _, err := w.OnboardPackage(t.Context(), spec, ids[i])
				require.NoError(t, err, spec.Name)
				again := w.open(t)
				p, err := again.HoldPackage(t.Context(), ids[i], "one")
				require.NoError(t, err, spec.Name)
				require.NoError(t, second(fs.ReadFile(p.Content, "Files/a.yaml")), spec.Name)
			}
		})
	}
}

func named(spec vnfm.InstanceSpec, name string) vnfm.InstanceSpec {
	spec.Name = name
	return spec
}

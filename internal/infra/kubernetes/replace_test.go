package kubernetes

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestSharesField(t *testing.T) {
	t.Parallel()
	invalid := func(paths ...string) error {
		var list field.ErrorList
		for _, p := range paths {
			list = append(list, field.Invalid(field.NewPath(p), "x", "no"))
		}
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", list)
	}
	assert.True(t, sharesField(invalid("a", "b"), invalid("b", "c")))
	assert.False(t, sharesField(invalid("a"), invalid("b")))
	assert.False(t, sharesField(invalid(), invalid("b")))
	assert.False(t, sharesField(errors.New("no status"), invalid("b")))
}

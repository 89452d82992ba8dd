package seal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Destination is where secrets go and how the other side is known: the clear part of
// their record, by the paths of its fields. It is sealed together with the secrets, which
// open with the same destination only. So who may write the store and has no key can lead
// them nowhere else. A record that is put back as a whole leads to where its secrets went
// when it was sealed. Where more than secrets depends on a destination, Store.IsProven is
// asked first.
//
// A field that is empty is one that is not there, so that a release with further fields
// opens what one without them has sealed.
type Destination map[string]string

// DestinationOf makes a destination of everything in a value that JSON has of it. An error
// is one of the value's type.
func DestinationOf(value any) (Destination, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	d := Destination{}
	d.add("", tree)
	return d, nil
}

func (d Destination) add(at string, value any) {
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for key, item := range value {
			d.add(strings.TrimPrefix(at+"."+key, "."), item)
		}
	case []any:
		for n, item := range value {
			d.add(fmt.Sprintf("%s.%d", at, n), item)
		}
	case string:
		if value != "" {
			d[at] = value
		}
	default:
		if text := fmt.Sprint(value); text != "false" && text != "0" {
			d[at] = text
		}
	}
}

// differs lists the fields that another destination has otherwise, in their order.
func (d Destination) differs(other Destination) []string {
	all := maps.Clone(other)
	if all == nil {
		all = Destination{}
	}
	maps.Copy(all, d)
	var out []string
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if d[field] != other[field] {
			out = append(out, field)
		}
	}
	return out
}

// EditedError says that secrets were sealed for another destination than the one that
// their record has: it was edited by somebody without the key.
type EditedError struct {
	// Fields are the paths of the fields that differ.
	Fields []string
}

func (e *EditedError) Error() string {
	return "sealed for another destination, which differs in " + strings.Join(e.Fields, ", ")
}

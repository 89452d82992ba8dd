package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// finding collects what a request has and a configuration has no place for.
type findings struct{ lines []string }

func (f *findings) add(path, why string) { f.lines = append(f.lines, path+": "+why) }

// object is an object of a request. What nobody takes from it has no place in a configuration.
type object struct {
	path   string
	fields map[string]any
	taken  map[string]bool
	all    *findings
}

func newObject(path string, value any, all *findings) (*object, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s must be an object", path)
	}
	return &object{path, fields, map[string]bool{}, all}, nil
}

func (o *object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// take takes a field, nil for none.
func (o *object) take(key string) any {
	o.taken[key] = true
	return o.fields[key]
}

// text takes a text. A number is one, too: YAML has some without quotes.
func (o *object) text(key string) (string, error) {
	switch v := o.take(key).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number, float64, int, bool:
		return fmt.Sprint(v), nil
	default:
		return "", fmt.Errorf("%s must be a text", o.at(key))
	}
}

// object takes an object, nil for none.
func (o *object) object(key string) (*object, error) {
	value := o.take(key)
	if value == nil {
		return nil, nil
	}
	return newObject(o.at(key), value, o.all)
}

// objects takes a list of objects, or a map of them in the order of its keys, whose keys are returned.
func (o *object) objects(key string) (out []*object, keys []string, err error) {
	add := func(place string, value any) {
		if err == nil {
			var item *object
			item, err = newObject(o.at(key)+"["+place+"]", value, o.all)
			out, keys = append(out, item), append(keys, place)
		}
	}
	switch list := o.take(key).(type) {
	case nil:
	case []any:
		for n, value := range list {
			add(strconv.Itoa(n), value)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(list)) {
			add(name, list[name])
		}
	default:
		err = fmt.Errorf("%s must be a list of objects", o.at(key))
	}
	return out, keys, err
}

// texts takes a list of texts.
func (o *object) texts(key string) ([]any, error) {
	value := o.take(key)
	list, ok := value.([]any)
	if value != nil && !ok {
		return nil, fmt.Errorf("%s must be a list", o.at(key))
	}
	for _, item := range list {
		if _, ok := item.(string); !ok {
			return nil, fmt.Errorf("%s must be a list of texts", o.at(key))
		}
	}
	return list, nil
}

// why are the fields of which more is known than that they have no place.
var why = map[string]string{
	"localizationLanguage": "the provider has texts of one language", "extensions": "the VNFD has them", "vnfConfigurableProperties": "the VNFD has them",
	"resourceProviderId": "the VIM is that of the instance", "vimConnectionId": "the VIM is that of the instance",
	"numDynamicAddresses": "a port has one address of each entry of ip_addresses", "addressRange": "name the addresses in fixed_addresses, or leave the choice to the subnet",
	"segmentationId": "the network has it", "helm_info": "charts of the package need no host",
	"lcm-operation-user-data": "the provider computes what the class of the package computes", "lcm-operation-user-data-class": "the provider computes what the class of the package computes",
}

// rest reports what nobody has taken.
func (o *object) rest() {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		if o.taken[key] || o.fields[key] == nil {
			continue
		}
		reason := why[key]
		if reason == "" {
			reason = "it has no place"
		}
		o.all.add(o.at(key), reason)
	}
}

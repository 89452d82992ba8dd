package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// Randomness is the handling of template functions whose result differs at every call.
type Randomness int

const (
	// RandomRefused makes a problem of every template whose objects depend on one.
	RandomRefused Randomness = iota
	// RandomPlanned gives results that are remembered. An object that depends on another one is
	// Later: what it will be is not known.
	RandomPlanned
	// RandomKept gives results that are remembered, and makes and remembers the others.
	RandomKept
)

// pass is one of the renderings of a chart.
type pass int

const (
	// scanning shows whether the chart calls such functions at all. Its results stand in.
	scanning pass = iota
	// settling has the remembered results, and for others what the Randomness says.
	settling
	// varying is settling with other stand-ins: what differs depends on them.
	varying
)

// calls are the functions of templates that give something else at every call, as one
// rendering has them. A result is remembered by the file that is rendered, the function, its
// arguments and the running number among equal calls.
//
// Templates are executed one after the other, so that nothing here is locked.
type calls struct {
	options *Options
	known   *Results
	// inputs is the digest of everything that decides on the rendering.
	inputs string
	pass   pass
	clock  time.Time
	// release is what is remembered of the release, revision what it is rendered as.
	release  RenderedRelease
	revision Revision

	// files are those that are being executed, each included by the one before.
	files  []string
	counts map[string]int
	// used are the results that were given and are remembered, by their keys.
	used map[string]*Call
	// fresh are the keys of those that this rendering has made.
	fresh map[string]bool
	// stoodIn is set when a result stands in for one that is not made yet.
	stoodIn bool
	names   map[string]bool
	// selected is set when a result is to be made again, or was for the same trigger.
	selected bool
	// standing are the results that stand in for others, by their keys; nil if they are not collected.
	standing map[string]*Call
	// looked is set when a template has called lookup, answers are what it was given, and wanted are the calls without an answer.
	looked  bool
	answers map[string]json.RawMessage
	wanted  map[string]Lookup
}

func newCalls(o *Options, known *Results, revision Revision, p pass, clock time.Time) *calls {
	return &calls{
		options: o, known: known, inputs: revision.Inputs, pass: p, clock: clock.Round(0).UTC(), release: known.releaseOf(o), revision: revision,
		counts: map[string]int{}, used: map[string]*Call{}, fresh: map[string]bool{}, names: map[string]bool{},
		answers: map[string]json.RawMessage{}, wanted: map[string]Lookup{},
	}
}

// volatile reports whether the rendering depends on more than chart, values and capabilities.
func (k *calls) volatile() bool { return len(k.names) > 0 || k.looked }

// called are the volatile functions that were called.
func (k *calls) called() []string { return sortedKeys(k.names) }

// makes reports whether results are made and remembered.
func (k *calls) makes() bool { return k.pass == settling && k.options.Random == RandomKept }

// functions are those that replace functions of templates.
func (k *calls) functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	out := template.FuncMap{
		"keys": orderedKeys, "values": orderedValues, lookupFunction: k.lookup, beginFile: k.begin, endFile: k.end,
		"now": k.now, "ago": k.ago,
	}
	for name, standIn := range standIns {
		out[name] = k.remembered(name, reflect.ValueOf(all[name]), standIn)
	}
	for name, at := range dateArguments {
		out[name] = k.dated(reflect.ValueOf(all[name]), at)
	}
	out["durationRound"] = k.since(reflect.ValueOf(all["durationRound"]))
	return out
}

// remembered returns a function of the type of f whose results are remembered.
func (k *calls) remembered(name string, f reflect.Value, s standIn) any {
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		k.names[name] = true
		key := k.key(name, args)
		if old := k.recall(key); old != nil {
			if out, err := decodeResult(f.Type(), old.Value); err == nil {
				k.used[key] = old
				return out
			}
		}
		if !k.makes() {
			k.stoodIn = true
			out := s(seed{key, k.pass == varying}, f, args)
			k.stand(key, name, out)
			return out
		}
		out := invoke(f, args)
		if failed(out) {
			return out
		}
		value, err := json.Marshal(out[0].Interface())
		if err != nil {
			return out
		}
		k.remember(key, name, value)
		// The same form as from the memory.
		if again, err := decodeResult(f.Type(), value); err == nil {
			return again
		}
		return out
	}).Interface()
}

// key identifies a call.
func (k *calls) key(function string, args []reflect.Value) string {
	values := make([]any, 0, len(args))
	for _, arg := range args {
		values = append(values, arg.Interface())
	}
	sum := sha256.New()
	// What cannot be encoded, such as a function, is no argument of these functions.
	_ = json.NewEncoder(sum).Encode(values)
	call := strings.Join([]string{k.file(), function, hex.EncodeToString(sum.Sum(nil))[:32]}, " ")
	k.counts[call]++
	return call + " " + strconv.Itoa(k.counts[call])
}

// recall returns a result that is remembered and still holds; nil for none.
func (k *calls) recall(key string) *Call {
	c := k.known.Calls[key]
	if c == nil || k.pass == scanning || (c.Inputs != "" && c.Inputs != k.inputs) {
		return nil
	}
	if k.options.Regenerate.Selects(c.File, c.Function) {
		if k.selected = true; c.Trigger != k.options.Regenerate.Trigger {
			return nil
		}
	}
	return c
}

func (k *calls) remember(key, function string, value []byte) {
	c := &Call{File: k.file(), Function: function, Value: value}
	if k.options.Regenerate != nil {
		c.Trigger = k.options.Regenerate.Trigger
	}
	k.used[key], k.fresh[key] = c, true
}

// nowFunction is the function that reads the clock.
const nowFunction = "now"

// later is how far the clock of a varying rendering is ahead: every part of a date is
// another one then, down to the second.
const later = 400*24*time.Hour + time.Hour + time.Minute + time.Second

// now is one instant for the whole release, which stays as long as the release does.
func (k *calls) now() time.Time {
	k.names[nowFunction] = true
	key := nowFunction + " " + k.inputs
	if old := k.recall(key); old != nil {
		var at time.Time
		if json.Unmarshal(old.Value, &at) == nil {
			k.used[key] = old
			return at
		}
	}
	if k.makes() && k.used[key] == nil {
		value, err := json.Marshal(k.clock)
		if err == nil {
			k.remember(key, nowFunction, value)
			k.used[key].File, k.used[key].Inputs = "", k.inputs
		}
	}
	if k.stoodIn = k.stoodIn || !k.makes(); k.pass == varying {
		return k.clock.Add(later)
	}
	return k.clock
}

// ago replaces the template function ago. It counts from the time that the template function now returns.
func (k *calls) ago(date any) string {
	at := k.now()
	switch date := date.(type) {
	case time.Time:
		return at.Sub(date).Round(time.Second).String()
	case int64:
		return at.Sub(time.Unix(date, 0)).Round(time.Second).String()
	case int:
		return at.Sub(time.Unix(int64(date), 0)).Round(time.Second).String()
	}
	return time.Duration(0).String()
}

// dateArguments are the functions that take the present for a date that is none, with the
// index of the date among their arguments.
var dateArguments = map[string]int{"date": 1, "date_in_zone": 1, "dateInZone": 1, "htmlDate": 0, "htmlDateInZone": 0}

// dated wraps f. Where f would read the clock, it gets the time that the template function now returns.
func (k *calls) dated(f reflect.Value, at int) any {
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		switch args[at].Interface().(type) {
		case time.Time, *time.Time, int64, int, int32:
		default:
			args[at] = reflect.ValueOf(k.now())
		}
		return invoke(f, args)
	}).Interface()
}

// since returns the function durationRound f with the time since a date as of now.
func (k *calls) since(f reflect.Value) any {
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		if date, ok := args[0].Interface().(time.Time); ok {
			args[0] = reflect.ValueOf(k.now().Sub(date).String())
		}
		return invoke(f, args)
	}).Interface()
}

func invoke(f reflect.Value, args []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// failed reports whether the last result of a call is an error.
func failed(out []reflect.Value) bool {
	last := out[len(out)-1]
	return len(out) > 1 && last.Kind() == reflect.Interface && !last.IsNil()
}

// decodeResult returns the results of a function given the first one as JSON; the others are
// zero.
func decodeResult(t reflect.Type, value []byte) ([]reflect.Value, error) {
	into := reflect.New(t.Out(0))
	if err := json.Unmarshal(value, into.Interface()); err != nil {
		return nil, err
	}
	out := []reflect.Value{into.Elem()}
	for i := 1; i < t.NumOut(); i++ {
		out = append(out, reflect.Zero(t.Out(i)))
	}
	return out, nil
}

// orderedKeys is the function keys, whose order is that of the map's memory
// otherwise.
func orderedKeys(dicts ...map[string]any) []string {
	var out []string
	for _, d := range dicts {
		out = append(out, slices.Sorted(maps.Keys(d))...)
	}
	return out
}

// orderedValues is the function values, in the order of the keys.
func orderedValues(dict map[string]any) []any {
	out := make([]any, 0, len(dict))
	for _, key := range sortedKeys(dict) {
		out = append(out, dict[key])
	}
	return out
}

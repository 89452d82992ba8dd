package heat

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The stack of an instance has the instance's id in its name, or is given a name: it is found by it in
// whatever state the store is. A tag has the name that the user gave.
const (
	stackPrefix = "vnf-"
	tagPrefix   = "vnf-instance:"
)

func stackName(i *vnfm.Instance) string {
	if name := givenName(i); name != "" {
		return name
	}
	return stackPrefix + i.ID
}

// validStackName is what Heat takes as the name of a stack.
var validStackName = lazyregexp.New(`^[a-zA-Z][a-zA-Z0-9_.-]{0,254}$`)

// stackKey is how the stack goes by in objects and inventory.
func stackKey(i *vnfm.Instance) string { return vnfm.StackKind + " " + i.Name }

// live is the stack of an instance as Heat has it.
type live struct {
	stack *openstack.Stack
	// content is what the stack was made of last, note what was noted with it then.
	content *openstack.StackContent
	note    note
	// noted is false when somebody has made the stack into something else since.
	noted     bool
	resources []openstack.StackResource
	servers   map[string]*openstack.Server
	// ports and floating are read only for a stack that has resources of these types.
	ports    map[string]*openstack.Port
	floating map[string]*openstack.FloatingIP
}

// look reads the stack of the instance; nil when there is none. It takes six requests, and one more for each of ports and floating
// addresses that the stack has, however large it is, and more pages for every thousand of them.
func (s *session) look(ctx context.Context) (*live, error) {
	stack, err := s.find(ctx)
	if err != nil || stack == nil {
		return nil, err
	}
	return s.readLive(ctx, stack)
}

func (s *session) readLive(ctx context.Context, stack *openstack.Stack) (*live, error) {
	l := &live{stack: stack}
	var err error
	if l.content, err = s.client.ReadStack(ctx, stack); err != nil {
		return nil, err
	}
	l.note = readNote(l.content.Notes)
	if l.noted, err = l.note.fits(l.content); err != nil {
		return nil, fmt.Errorf("reading stack %s: %w", stack.Name, err)
	}
	return l, s.readMembers(ctx, l)
}

// readMembers reads which resources and servers the stack has now.
func (s *session) readMembers(ctx context.Context, l *live) (err error) {
	if l.resources, err = s.client.StackResources(ctx, l.stack); err != nil {
		return err
	}
	return s.readServices(ctx, l)
}

// note is what the driver writes into the environment of a stack, where no template reads
// it: what the stack was made for, for later readers.
type note struct {
	Package string `json:"package"`
	// Content is the digest of template, files and parameters: with another one, somebody
	// else has changed the stack. Hidden is a keyed one of the hidden parameters, which Heat
	// shows nobody.
	Content string `json:"content"`
	Hidden  string `json:"hidden,omitempty"`
	// Objects are the digests of what the stack consists of, as a plan shows them.
	Objects map[string]string `json:"objects"`
	// InTurn says that the stack has its copies made one after the other.
	InTurn bool `json:"inTurn,omitempty"`
	// DigestKey keys these digests. It stands beside the values of all parameters: whoever
	// reads it has what it protects from guesses; and a stack needs no Barbican to keep it. Heat
	// shows nobody the values of hidden parameters: where there are some the key is not here,
	// and without the record the digests cannot be compared.
	DigestKey []byte `json:"digestKey,omitempty"`
	// Arguments are those of the instance, for Find; without its parameters where the stack hides some.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Assets are what was chosen of the VIM, so that it is chosen again as long as it fits.
	Assets map[string]hot.Asset `json:"assets,omitempty"`
	// Zones are the availability zones that the stack asks for, so that its servers stay where they are.
	Zones map[hot.Place]string `json:"zones,omitempty"`
}

// noteName is the name of the note among the values for parameters that no template has.
const noteName = "vnf_nfv_iac_note"

func readNote(values map[string]any) note {
	var n note
	text, _ := values[noteName].(string)
	// An unreadable note counts as removed.
	_ = json.Unmarshal([]byte(text), &n)
	return n
}

func (n *note) values() (map[string]any, error) {
	text, err := json.Marshal(n)
	return map[string]any{noteName: string(text)}, err
}

// setDigests takes the digests of what a stack is made of.
func (n *note) setDigests(key []byte, c *openstack.StackContent) (err error) {
	_, hidden := parted(c)
	n.Hidden = ""
	if len(hidden) > 0 {
		text, err := json.Marshal(hidden)
		if err != nil {
			return fmt.Errorf("taking a digest: %w", err)
		}
		n.Hidden = hot.Digest(key, text)
	}
	n.Content, err = digestOf(c)
	return err
}

// key is that of the digests; nil when the driver has noted none.
func (n *note) key() ([]byte, error) {
	if len(n.DigestKey) == 0 && n.Hidden != "" {
		return nil, fmt.Errorf("%w: the stack hides parameters, but users other than its own can read it", vnfm.ErrKeyLost)
	}
	return n.DigestKey, nil
}

// parted are the parameters of a stack that Heat shows, and those that its template hides.
func parted(c *openstack.StackContent) (shown, hidden map[string]any) {
	shown, hidden = map[string]any{}, map[string]any{}
	declared, _ := c.Template["parameters"].(map[string]any)
	for name, value := range c.Parameters {
		if hot.IsHidden(declared[name]) {
			hidden[name] = value
		} else {
			shown[name] = value
		}
	}
	return shown, hidden
}

// fits reports whether a stack is as it was when the note was written.
func (n *note) fits(c *openstack.StackContent) (bool, error) {
	digest, err := digestOf(c)
	return digest == n.Content, err
}

// copies are the numbers of the VNFCs that the stack has of a copied VDU, the oldest first.
func (l *live) copies(vdu hot.VDU) []int {
	if l == nil {
		return nil
	}
	pattern := regexp.MustCompile("^" + regexp.QuoteMeta(vdu.Resource) + `-([0-9]+)$`)
	type made struct {
		number int
		at     time.Time
	}
	var all []made
	resources, _ := l.content.Template["resources"].(map[string]any)
	for name := range resources {
		found := pattern.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		number, err := strconv.Atoi(found[1])
		if err != nil {
			continue
		}
		one := made{number: number}
		for i := range l.resources {
			if r := &l.resources[i]; r.Name == name && r.StackID() == l.stack.ID {
				one.at = r.CreatedAt.Time
			}
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b made) int {
		if order := a.at.Compare(b.at); order != 0 {
			return order
		}
		return a.number - b.number
	})
	numbers := make([]int, 0, len(all))
	for _, one := range all {
		numbers = append(numbers, one.number)
	}
	return numbers
}

// chooseNumbers are the numbers of a copied VDU that is to have count VNFCs: those that
// there are, less those that leave and then the newest, or with the lowest that are free.
func chooseNumbers(have []int, count int, leaving []int) []int {
	out := slices.DeleteFunc(slices.Clone(have), func(n int) bool { return slices.Contains(leaving, n) && len(have) > count })
	if len(out) > count {
		out = out[:count]
	}
	for n := 0; len(out) < count; n++ {
		if !slices.Contains(out, n) && !slices.Contains(have, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// tagsOf are those of the stack of an instance. A tag cannot have a comma.
func tagsOf(i *vnfm.Instance) []string {
	const longest = 80
	tag := strings.ReplaceAll(tagPrefix+i.Name, ",", "_")
	return []string{tag[:min(len(tag), longest)]}
}

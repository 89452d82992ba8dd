package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// floatingFile is the file of the floating addresses among those of servers.
const floatingFile = "floating.json"

// float has addresses lead to others: floating ones of Neutron to those of ports. No others do any more.
func (h *host) float(addresses map[netip.Addr]netip.Addr) error {
	for floating, fixed := range addresses {
		if !floating.Is4() || !fixed.Is4() {
			return &problem{http.StatusBadRequest, fmt.Errorf("%s cannot lead to %s: both must be of IPv4", floating, fixed)}
		}
	}
	h.floating.Lock()
	defer h.floating.Unlock()
	data, err := json.Marshal(addresses)
	if err != nil {
		return fmt.Errorf("encoding the floating addresses: %w", err)
	}
	if err := os.MkdirAll(h.Data, 0o700); err != nil {
		return fmt.Errorf("making the folder of servers: %w", err)
	}
	if err := layout.WriteFile(filepath.Join(h.Data, floatingFile), data); err != nil {
		return err
	}
	return h.run(h.networks.space, translation(addresses), "nft", "-f", "-")
}

// translation is the script of nft that replaces the translation of addresses. Who asks for the floating address of a server from
// the network of that one must get the answer by the way of the question.
func translation(addresses map[netip.Addr]netip.Addr) string {
	const empty = "table ip lab\ndelete table ip lab\n"
	if len(addresses) == 0 {
		return empty
	}
	var to, from []string
	for floating, fixed := range addresses {
		to = append(to, fmt.Sprintf("%s : %s", floating, fixed))
		from = append(from, fmt.Sprintf("%s : %s", fixed, floating))
	}
	slices.Sort(to)
	slices.Sort(from)
	return empty + fmt.Sprintf(`table ip lab {
	chain in {
		type nat hook prerouting priority dstnat;
		dnat to ip daddr map { %s };
	}
	chain out {
		type nat hook postrouting priority srcnat;
		oifname "uplink" snat to ip saddr map { %s };
		iifname "brq*" oifname "brq*" ct status dnat masquerade;
	}
}
`, strings.Join(to, ", "), strings.Join(from, ", "))
}

// loadFloating has the floating addresses of a host that has ended lead on.
func (h *host) loadFloating() error {
	data, err := os.ReadFile(filepath.Join(h.Data, floatingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the floating addresses: %w", err)
	}
	var addresses map[netip.Addr]netip.Addr
	if err := json.Unmarshal(data, &addresses); err != nil {
		return fmt.Errorf("reading the floating addresses: %w", err)
	}
	if err := h.float(addresses); err != nil {
		h.Log.Error("floating addresses lead nowhere", "error", err)
	}
	return nil
}

package loadbalancer

import (
	"bytes"
	"context"
	_ "embed"
	"io/fs"
	"strconv"
	"text/template"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// proxy installs and configures HAProxy on a load balancer.
func (c Config) proxy(ctx context.Context, client *remote.Client) error {
	text, err := render(haproxyConfig, c)
	if err != nil {
		return err
	}
	programs := []string{"haproxy"}
	after := release
	if c.Virtual != nil {
		programs, after = append(programs, "keepalived"), ""
	}
	if _, err := client.Run(ctx, remote.Command{
		What: "installing HAProxy on the load balancer", Script: install, Args: programs, Sudo: true, Env: c.Proxy, Output: c.Report, Secrets: c.Secrets,
	}); err != nil {
		return err
	}
	const next = "/etc/haproxy/haproxy.cfg.next"
	present, err := client.ReadFile(ctx, "/etc/haproxy/haproxy.cfg", true)
	if err == nil && bytes.Equal(present, text) {
		// HAProxy may be stopped, or an earlier reload may have been interrupted.
		_, err = client.Run(ctx, remote.Command{What: "starting HAProxy on the load balancer", Script: service + keep + after, Sudo: true, Args: []string{strconv.Itoa(c.APIPort)}})
		return err
	}
	if _, err := client.WriteFile(ctx, remote.File{Path: next, Content: text, Mode: fs.FileMode(0o644), Sudo: true}); err != nil {
		return err
	}
	_, err = client.Run(ctx, remote.Command{
		What: "putting the configuration of HAProxy in place on the load balancer", Script: service + swap + after, Sudo: true, Args: []string{next, strconv.Itoa(c.APIPort)},
	})
	return err
}

var (
	//go:embed install.sh
	install string
	//go:embed service.sh
	service string
	//go:embed swap.sh
	swap string
	//go:embed keep.sh
	keep string
	//go:embed release.sh
	release string
	//go:embed haproxy.cfg.tmpl
	haproxyText string
)

var haproxyConfig = template.Must(template.New("haproxy.cfg").Parse(haproxyText))

func render(t *template.Template, data any) ([]byte, error) {
	var out bytes.Buffer
	err := t.Execute(&out, data)
	return out.Bytes(), err
}

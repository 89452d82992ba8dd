package requests

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/configuration"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vimOf are the arguments of the vnf_vim, with the expression of its id. Where neither file nor request says how the VIM is reached the
// id is a variable, and there are no arguments.
func (c *converter) vimOf(r *object, config map[string]any) (configuration.Expression, configuration.Fields, error) {
	connections, keys, err := r.objects("vimConnectionInfo")
	if err != nil {
		return "", nil, err
	}
	for _, other := range connections[min(1, len(connections)):] {
		c.findings.add(other.path, "the instance has one VIM; another one is an entry of vim_connections with the VDUs that are there")
	}
	id := configuration.Expression("vnf_vim." + configuration.Name(c.vimName) + ".id")
	if config != nil {
		o, err := newObject("VIM configuration", config, &c.findings)
		if err != nil {
			return "", nil, err
		}
		arguments, err := c.configured(o)
		return id, arguments, err
	}
	if len(connections) > 0 {
		connection := connections[0]
		arguments, err := c.connected(connection)
		if err != nil || arguments != nil {
			return id, arguments, err
		}
		name, err := connection.text("vimId")
		if err != nil {
			return "", nil, err
		}
		if name == "" {
			name = keys[0]
		}
		c.findings.add(connection.path, fmt.Sprintf("the VIM %s is registered elsewhere: give --vim-config, or the id of a vnf_vim as the variable vim_id", name))
	}
	return c.use("vim_id", "Id of the vnf_vim of the instance.", false), nil, nil
}

// vim is what both forms say of a VIM.
type vim struct {
	kind, endpoint, username, ca       string
	password, token                    bool
	project, projectDomain, userDomain string
	region                             string
	insecure                           bool
}

// configured reads a VIM configuration of OpenStack Tacker.
func (c *converter) configured(o *object) (configuration.Fields, error) {
	t := texts{o: o}
	v := vim{
		kind: t.take("type"), endpoint: t.take("auth_url"), username: t.take("username"), ca: t.take("ssl_ca_cert"),
		password: t.take("password") != "", token: t.take("bearer_token") != "",
		project: t.take("project_name"), projectDomain: t.take("project_domain_name"), userDomain: t.take("user_domain_name"), region: t.take("region"),
		insecure: strings.EqualFold(t.take("cert_verify"), "false"),
	}
	if extra, err := o.object("extra"); err != nil {
		return nil, err
	} else if extra != nil {
		extra.rest()
	}
	if t.err != nil {
		return nil, t.err
	}
	o.rest()
	if v.endpoint == "" {
		return nil, errors.New("the VIM configuration has no auth_url")
	}
	if v.kind == "" {
		v.kind = string(vnfm.VIMTypeOpenStack)
	}
	return c.arguments(&v)
}

// connected reads an entry of vimConnectionInfo; nil for one that only names a VIM.
func (c *converter) connected(o *object) (configuration.Fields, error) {
	of := func(key string) (*object, error) {
		inner, err := o.object(key)
		if inner == nil && err == nil {
			inner, err = newObject(o.at(key), map[string]any{}, o.all)
		}
		return inner, err
	}
	reached, err := of("interfaceInfo")
	if err != nil {
		return nil, err
	}
	access, err := of("accessInfo")
	if err != nil {
		return nil, err
	}
	i, a, own := texts{o: reached}, texts{o: access}, texts{o: o}
	v := vim{
		kind: own.take("vimType"), endpoint: i.take("endpoint"), ca: i.take("ssl_ca_cert"), insecure: strings.EqualFold(i.take("skipCertificateVerification"), "true"),
		username: a.take("username"), password: a.take("password") != "", token: a.take("bearer_token") != "",
		project: a.take("project"), projectDomain: a.take("projectDomain"), userDomain: a.take("userDomain"), region: a.take("region"),
	}
	if v.endpoint == "" {
		v.endpoint = a.take("authUrl")
	}
	if err := errors.Join(i.err, a.err, own.err); err != nil {
		return nil, err
	}
	if v.endpoint == "" {
		return nil, nil
	}
	if v.region == "" {
		v.region = a.take("regionName")
	}
	for _, key := range []string{"id", "vimId"} {
		o.take(key)
	}
	reached.rest()
	access.rest()
	o.rest()
	return c.arguments(&v)
}

// texts takes texts and keeps the first error.
type texts struct {
	o   *object
	err error
}

func (t *texts) take(key string) string {
	text, err := t.o.text(key)
	if t.err == nil {
		t.err = err
	}
	return text
}

// arguments are those of the vnf_vim.
func (c *converter) arguments(v *vim) (configuration.Fields, error) {
	secret := func(given bool, name, description string) (value, version any) {
		if !given {
			return nil, nil
		}
		return c.use(c.vimName+"_"+name, description, true), 1
	}
	var insecure any
	kind := strings.ToLower(v.kind)
	var inner configuration.Fields
	switch {
	case strings.Contains(kind, "kubernetes"), strings.Contains(kind, "helm"):
		kind = string(vnfm.VIMTypeKubernetes)
		if v.insecure || strings.EqualFold(v.ca, "None") {
			insecure, v.ca = true, ""
		}
		token, tokenVersion := secret(v.token, "bearer_token", "Bearer token of the VIM.")
		password, passwordVersion := secret(v.password && !v.token, "password", "Password of the VIM.")
		inner = configuration.Fields{
			{Name: "endpoint", Value: v.endpoint}, {Name: "username", Value: v.username}, {Name: "password_wo", Value: password}, {Name: "password_wo_version", Value: passwordVersion},
			{Name: "bearer_token_wo", Value: token}, {Name: "bearer_token_wo_version", Value: tokenVersion},
			{Name: "ca_certificate", Value: pem(v.ca)}, {Name: "insecure_skip_tls_verify", Value: insecure}, {Name: "default_namespace", Value: v.project},
		}
	case strings.Contains(kind, "openstack"):
		kind = string(vnfm.VIMTypeOpenStack)
		if v.insecure {
			insecure = true
		}
		password, passwordVersion := secret(v.password, "password", "Password of the VIM.")
		inner = configuration.Fields{
			{Name: "auth_url", Value: v.endpoint}, {Name: "region", Value: v.region}, {Name: "username", Value: v.username},
			{Name: "password_wo", Value: password}, {Name: "password_wo_version", Value: passwordVersion},
			{Name: "user_domain_name", Value: v.userDomain}, {Name: "project_name", Value: v.project}, {Name: "project_domain_name", Value: v.projectDomain},
			{Name: "insecure_skip_tls_verify", Value: insecure},
		}
		if v.ca != "" && insecure == nil {
			inner = append(inner, configuration.Field{Name: "ca_certificate", Value: pem(v.ca)})
		}
	default:
		return nil, fmt.Errorf("the VIM has the type %q; a vnf_vim is kubernetes or openstack", v.kind)
	}
	return configuration.Fields{{Name: "name", Value: c.vimName}, {Name: kind, Value: inner}}, nil
}

// pem restores the line breaks of a certificate: YAML folds those of a quoted text to blanks.
func pem(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.Contains(text, "\n") {
		return text
	}
	return strings.NewReplacer(" CERTIFICATE-----", " CERTIFICATE-----", " ", "\n").Replace(text)
}

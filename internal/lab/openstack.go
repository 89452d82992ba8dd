package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/command"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// openStack carries out the verbs of the OpenStack lab.
func openStack(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	program := command.Program{
		Name: "lab openstack",
		Verbs: []command.Verb{
			{Name: "up", Arguments: "[--services identity,image,...] [--systems docker,ansible,kubernetes] [--owner PID] [--timeout 15m]", Does: "start an OpenStack lab, or its missing parts", Action: openStackUp},
			{Name: "down", Does: "stop it and delete its directory", Action: openStackLabs.down},
			{Name: "status", Does: "print what runs; exit code 1 if something does not", Action: openStackLabs.status},
			{Name: "env", Arguments: "[--format json|shell]", Does: "print endpoints, users and files", Action: openStackLabs.env},
			{Name: "request", Arguments: "[--user nfv_user] METHOD SERVICE PATH [BODY]", Does: "call a service, for example GET compute /servers, and print its answer", Action: openStackRequest},
			{Name: "full-zone", Arguments: "NAME", Does: "give a lab that runs an availability zone without a place for a server", Action: openStackFullZone},
		},
	}
	if code := program.Run(ctx, args, stdout, stderr); code != 0 {
		return command.ExitCode(code)
	}
	return nil
}

// openStackLabs are the labs of OpenStack.
var openStackLabs = kind{
	prefix: "openstack ",
	open:   func(p *place) lab { return (*openstack.Lab)(p) },
	tell:   func(p *place) (environment, error) { return (*openstack.Lab)(p).Environment() },
}

func openStackUp(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("openstack up", stderr)
	services := flags.String("services", "", "some of "+strings.Join(openstack.Kinds(), ",")+"; all but load-balancer when not given, which a lab that runs gets too")
	systems := flags.String("systems", "", "further systems of servers, some of "+strings.Join(servers.Systems(), ",")+"; a lab that has some keeps them")
	owner := ownerFlag(flags)
	timeout := flags.Duration("timeout", 15*time.Minute, "how long to wait until the lab can be used; the first start installs it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, err := placeOf(*dir, layout.OpenOpenStack, stderr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	return started(p.Dir, stdout, func() (reused bool, err error) {
		return (*openstack.Lab)(p).Up(ctx, openstack.UpOptions{Services: words(*services), Systems: words(*systems), Owner: *owner})
	})
}

// words are those of a list, none of which is empty.
func words(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(word string) bool { return word == "" })
}

func openStackRequest(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("openstack request", stderr)
	user := flags.String("user", openstack.UserNFV, "`user` who sends the request")
	if err := flags.Parse(args); err != nil {
		return err
	}
	const least, most = 3, 4
	if n := flags.NArg(); n < least || n > most {
		return errors.New("give METHOD SERVICE PATH and perhaps BODY, for example GET compute /servers")
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return (*openstack.Lab)(p).Request(ctx, openstack.Request{
		User: *user, Method: flags.Arg(0), Service: flags.Arg(1), Path: flags.Arg(2), Body: flags.Arg(least),
	}, stdout)
}

func openStackFullZone(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags, dir := newFlags("openstack full-zone", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give the name of the zone")
	}
	p, err := placeOf(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return (*openstack.Lab)(p).FullZone(ctx, flags.Arg(0))
}

// enter is not for people: the lab starts its programs with it.
func enter(_ context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab "+openstack.ProcessEnter, flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", "", "what becomes the root directory")
	dir := flags.String("dir", "", "directory of the lab")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("no program named")
	}
	return openstack.Enter(*root, *dir, flags.Args())
}

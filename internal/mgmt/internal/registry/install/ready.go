package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

const (
	// readyTimeout bounds the time from the start of a registry to its first answer.
	readyTimeout = 2 * time.Minute
	// firstPause and lastPause bound the time between two requests. Most registries answer a moment after their start.
	firstPause = 50 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// maxRestarts is the number of restarts by the engine after which the container counts as broken.
	maxRestarts = 3
)

// ready waits until the registry answers. A container that restarts repeatedly is an error with the end of its log.
func (i *installer) ready(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	before := -1
	for pause, reported := firstPause, false; ; pause, reported = min(2*pause, lastPause), true {
		answer := i.answers(waiting, i.client)
		if answer == nil {
			return nil
		}
		var refused *wrongAnswerError
		if errors.As(answer, &refused) || errors.Is(answer, remote.ErrNoForwarding) {
			return answer
		}
		if !reported {
			i.report("waiting until the registry answers")
		}
		found, err := i.inspect(waiting, i.client, i.Config)
		if err == nil {
			restarts, _ := strconv.Atoi(found.restarts)
			if before < 0 {
				before = restarts
			}
			if !found.container || restarts-before >= maxRestarts {
				return fmt.Errorf("the container %s does not keep running: it is %s after %d restarts%s", i.Name, found.status, restarts-before, i.containerLog(ctx))
			}
		}
		if poll.Sleep(waiting, pause) == nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		status := "not known"
		if found != nil {
			status = found.status
		}
		return fmt.Errorf("the registry does not answer %s after its start: %w; its container is %s%s", readyTimeout, answer, status, i.containerLog(ctx))
	}
}

// containerLog returns the end of the log of the registry, for the end of an error.
func (i *installer) containerLog(ctx context.Context) string {
	return i.log(ctx, "; it has written no log", "logs", i.Name, i.unit())
}

// wrongAnswerError is a registry that runs and differs from the configured one: waiting does not help.
type wrongAnswerError struct{ text string }

func (e *wrongAnswerError) Error() string { return e.text }

// answers checks the registry from its host, with and without a login.
func (c Config) answers(ctx context.Context, client *remote.Client) error {
	endpoint := connect.Endpoint{Server: "127.0.0.1:" + strconv.Itoa(c.Port)}
	if c.Secure() {
		own, err := leaf(c.Certificate)
		if err != nil {
			return fmt.Errorf("reading the certificate: %w", err)
		}
		// The certificate does not cover the loopback address, so it is compared instead.
		endpoint.Secure, endpoint.Exactly = true, own
	}
	answer, err := endpoint.Ping(ctx, client)
	if err != nil {
		return err
	}
	users := slices.Sorted(maps.Keys(c.Users))
	switch {
	case len(users) == 0 && answer.Status == http.StatusUnauthorized:
		return &wrongAnswerError{"the registry asks for a user, but none is configured: another program may answer on its port"}
	case len(users) > 0 && answer.Status == http.StatusOK:
		return &wrongAnswerError{"the registry answers without a login, although users are configured: another program may answer on its port, or its image does not read REGISTRY_AUTH"}
	case len(users) == 0 || c.Users[users[0]] == "":
		return nil
	}
	endpoint.Username, endpoint.Password = users[0], c.Users[users[0]]
	if answer, err = endpoint.Ping(ctx, client); err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return &wrongAnswerError{fmt.Sprintf("the registry rejects its user %q", users[0])}
	}
	return nil
}

package servers

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// requestTimeout bounds what is done with a server at once.
const requestTimeout = 30 * time.Second

// grace is how long a server may take to end by itself.
const grace = 5 * time.Second

// consoleEnd is how much of a console is shown.
const consoleEnd = 100 * 1024

// compare orders names.
var compare = cmp.Compare[string]

// problem is an error with the status of its answer.
type problem struct {
	status int
	error
}

// handler is what the drivers of Nova, Neutron and Octavia ask, and the lab.
func (h *host) handler() http.Handler {
	mux := http.NewServeMux()
	answer(mux, "GET /", func(*http.Request) (any, error) { return Place{Octet: h.networks.octet}, nil })
	answer(mux, "GET /servers", func(*http.Request) (any, error) { return h.list(), nil })
	answer(mux, "PUT /servers/{id}", func(r *http.Request) (any, error) {
		var definition Definition
		if err := read(r, &definition); err != nil {
			return nil, err
		}
		definition.ID = r.PathValue("id")
		return nil, h.define(definition)
	})
	answer(mux, "DELETE /servers/{id}", func(r *http.Request) (any, error) { return nil, h.remove(r.PathValue("id")) })
	h.with(mux, "POST /servers/{id}/start", func(s *server, _ *http.Request) (any, error) { return nil, s.start() })
	h.with(mux, "POST /servers/{id}/stop", func(s *server, _ *http.Request) (any, error) { return nil, s.stop(grace) })
	h.with(mux, "POST /servers/{id}/reboot", func(s *server, _ *http.Request) (any, error) {
		return nil, errors.Join(s.stop(grace), s.start())
	})
	h.with(mux, "PUT /servers/{id}/password", func(s *server, r *http.Request) (any, error) {
		var given struct{ User, Password string }
		if err := read(r, &given); err != nil {
			return nil, err
		}
		return nil, s.setPassword(given.User + ":" + given.Password)
	})
	h.with(mux, "PUT /servers/{id}/interfaces/{port}", func(s *server, r *http.Request) (any, error) {
		var card Interface
		if err := read(r, &card); err != nil {
			return nil, err
		}
		if err := card.check(); err != nil {
			return nil, &problem{http.StatusBadRequest, err}
		}
		return nil, s.attach(card)
	})
	h.with(mux, "DELETE /servers/{id}/interfaces/{port}", func(s *server, r *http.Request) (any, error) {
		return nil, s.detach(r.PathValue("port"))
	})
	h.with(mux, "PUT /servers/{id}/volumes/{file}", func(s *server, r *http.Request) (any, error) {
		var volume Volume
		if err := read(r, &volume); err != nil {
			return nil, err
		}
		volume.File = r.PathValue("file")
		return nil, s.attachVolume(volume)
	})
	h.with(mux, "DELETE /servers/{id}/volumes/{file}", func(s *server, r *http.Request) (any, error) {
		return nil, s.detachVolume(r.PathValue("file"))
	})
	h.with(mux, "POST /servers/{id}/volumes/{file}/resize", func(s *server, r *http.Request) (any, error) {
		return nil, s.resizeVolume(r.PathValue("file"))
	})
	h.with(mux, "GET /servers/{id}/console", func(s *server, _ *http.Request) (any, error) { return s.console() })
	answer(mux, "PUT /balancers/{id}", func(r *http.Request) (any, error) {
		var b Balancer
		if err := read(r, &b); err != nil {
			return nil, err
		}
		b.ID = r.PathValue("id")
		return nil, h.balance(b)
	})
	answer(mux, "DELETE /balancers/{id}", func(r *http.Request) (any, error) { return nil, h.removeBalancer(r.PathValue("id")) })
	answer(mux, "PUT /floating", func(r *http.Request) (any, error) {
		var addresses map[netip.Addr]netip.Addr
		if err := read(r, &addresses); err != nil {
			return nil, err
		}
		return nil, h.float(addresses)
	})
	return mux
}

// with answers what is about one server, one request at a time.
func (h *host) with(mux *http.ServeMux, pattern string, do func(*server, *http.Request) (any, error)) {
	answer(mux, pattern, func(r *http.Request) (any, error) {
		s, err := h.find(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return do(s, r)
	})
}

// answer has requests of a pattern answered in JSON.
func answer(mux *http.ServeMux, pattern string, do func(*http.Request) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		out, err := do(r)
		if err != nil {
			status := http.StatusInternalServerError
			var known *problem
			if errors.As(err, &known) {
				status = known.status
			}
			http.Error(w, err.Error(), status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// Who asks has gone when this fails.
		_ = json.NewEncoder(w).Encode(out)
	})
}

func read(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return &problem{http.StatusBadRequest, err}
	}
	return nil
}

// console is the end of what the server said while it started.
func (s *server) console() (string, error) {
	file, err := os.Open(filepath.Join(s.folder(), console))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // It was read.
	if info, err := file.Stat(); err == nil && info.Size() > consoleEnd {
		if _, err := file.Seek(-consoleEnd, io.SeekEnd); err != nil {
			return "", err
		}
	}
	text, err := io.ReadAll(file)
	return string(text), err
}

package proxy

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// PodLogs stands where the API server expects the kubelets. KWOK serves logs from files that are fixed when it starts,
// one for each pod name it knows: PodLogs asks it for the log of the model pod that behaves like the one asked for.
// Everything else (exec, attach, port-forward) reaches KWOK as it came.
type PodLogs struct {
	// Kwok is the address of KWOK's kubelet server.
	Kwok *url.URL
	// Model names the model pod of a pod. Its error is the answer to the client.
	Model func(ctx context.Context, namespace, pod, container string) (modelNamespace, modelName string, err error)
	// File names the log of a pod whose program really runs; it is empty for all others.
	File func(namespace, pod string) string
	Log  *slog.Logger
}

// containerLogs is the kubelet's path of logs: /containerLogs/<namespace>/<pod>/<container>.
const containerLogs = "containerLogs"

// Handler is the proxy.
func (p *PodLogs) Handler() http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite:       func(request *httputil.ProxyRequest) { request.SetURL(p.Kwok) },
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(p.Log.Handler(), slog.LevelWarn),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		if len(parts) == 4 && parts[0] == containerLogs {
			if file := p.File(parts[1], parts[2]); file != "" {
				tail(w, file, r.URL.Query().Get("tailLines"))
				return
			}
			namespace, name, err := p.Model(r.Context(), parts[1], parts[2], parts[3])
			if err != nil {
				p.Log.WarnContext(r.Context(), "no log", "namespace", parts[1], "pod", parts[2], "error", err)
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r = r.Clone(r.Context())
			r.URL.Path = "/" + strings.Join([]string{containerLogs, namespace, name, parts[3]}, "/")
			r.URL.RawPath = ""
		}
		forward.ServeHTTP(w, r)
	})
}

// tail answers with the last lines of a file, or all of them when their number is not given.
func tail(w http.ResponseWriter, file, lines string) {
	data, err := os.ReadFile(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if count, err := strconv.Atoi(lines); err == nil {
		all := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		data = append(bytes.Join(all[max(0, len(all)-count):], nil), '\n')
	}
	_, _ = w.Write(data)
}

package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The headers by which kube-apiserver learns from an authenticating proxy who the user is; they are the names that its
// --requestheader-* flags are given.
const (
	HeaderUser        = "X-Remote-User"
	HeaderGroup       = "X-Remote-Group"
	HeaderExtraPrefix = "X-Remote-Extra-"
)

// Basic is an authenticating proxy: it asks for a user name and a password, which Kubernetes itself has not done
// since 1.19, and vouches for the user with the front-proxy client certificate.
type Basic struct {
	// Target is the API server, Roots are the authorities of its certificate.
	Target *url.URL
	Roots  *x509.CertPool
	// Client is the front-proxy client certificate.
	Client tls.Certificate
	// Username and Password are what it asks for, Groups are the groups it vouches for.
	Username string
	Password string
	Groups   []string
	Log      *slog.Logger
}

// Handler is the proxy. Wrong credentials get 401 with a challenge, like any other HTTP service's.
func (b *Basic) Handler() http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(b.Target)
			vouch(request.Out.Header, b.Username, b.Groups)
		},
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{
				MinVersion:   tls.VersionTLS12,
				RootCAs:      b.Roots,
				Certificates: []tls.Certificate{b.Client},
			},
			ForceAttemptHTTP2: true,
		},
		// Watches have to reach the client event by event.
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(b.Log.Handler(), slog.LevelWarn),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		username, password, given := r.BasicAuth()
		if !given || !equal(username, b.Username) || !equal(password, b.Password) {
			b.refuse(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	})
}

func (b *Basic) refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Basic realm="lab", charset="UTF-8"`)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	err := json.NewEncoder(w).Encode(&metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Message:  "Unauthorized",
		Reason:   metav1.StatusReasonUnauthorized,
		Code:     http.StatusUnauthorized,
	})
	if err != nil {
		b.Log.WarnContext(r.Context(), "a refusal could not be sent", "error", fmt.Errorf("writing to %s: %w", r.RemoteAddr, err))
	}
}

// vouch replaces whatever identity the client claims by the one that was checked.
func vouch(header http.Header, username string, groups []string) {
	for name := range header {
		if name == "Authorization" || name == HeaderUser || name == HeaderGroup || strings.HasPrefix(name, HeaderExtraPrefix) {
			header.Del(name)
		}
	}
	header.Set(HeaderUser, username)
	for _, group := range groups {
		header.Add(HeaderGroup, group)
	}
}

// equal takes the same time whatever the texts have in common.
func equal(a, b string) bool {
	left, right := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(left[:], right[:]) == 1
}

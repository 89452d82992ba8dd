package registrytest

import (
	"crypto/tls"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Serve serves an empty registry and does not return if the process is a container of a host. Otherwise it does nothing.
func Serve() {
	if address := os.Getenv("STAND_IN_REGISTRY"); address != "" {
		log.Fatal(serve(address))
	}
}

// serve configures the registry by the environment variables of the real one.
func serve(address string) error {
	handler := Registry(nil)
	if os.Getenv("REGISTRY_AUTH") == "htpasswd" {
		users, err := os.ReadFile(os.Getenv("REGISTRY_AUTH_HTPASSWD_PATH")) //nolint:gosec // The test says which.
		if err != nil {
			return err
		}
		handler = loggedIn(handler, string(users))
	}
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if certificate := os.Getenv("REGISTRY_HTTP_TLS_CERTIFICATE"); certificate != "" {
		return server.ListenAndServeTLS(certificate, os.Getenv("REGISTRY_HTTP_TLS_KEY"))
	}
	return server.ListenAndServe()
}

func loggedIn(next http.Handler, users string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		for line := range strings.Lines(users) {
			user, hash, _ := strings.Cut(strings.TrimSpace(line), ":")
			if user == name && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil {
				next.ServeHTTP(w, r)
				return
			}
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

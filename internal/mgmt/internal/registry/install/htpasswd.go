package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// hashCost is the cost of a hash. Tests lower it, because they would spend nearly all their time on hashes.
var hashCost = bcrypt.DefaultCost

// htpasswd returns the file of the users. It keeps the line of a user if the password is unchanged, since a new salt would change the
// file, or unknown (empty).
func htpasswd(present []byte, users map[string]vnfm.Secret) ([]byte, error) {
	lines := usersIn(present)
	var b strings.Builder
	for _, user := range slices.Sorted(maps.Keys(users)) {
		password, hash := users[user].Reveal(), lines[user]
		keep := hash != "" && (password == "" || bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil)
		if !keep {
			made, err := bcrypt.GenerateFromPassword([]byte(password), hashCost)
			if err != nil {
				return nil, fmt.Errorf("hashing the password of user %q: %w", user, err)
			}
			hash = string(made)
		}
		b.WriteString(user + ":" + hash + "\n")
	}
	return []byte(b.String()), nil
}

// usersIn returns the hashes in a file of users, by user.
func usersIn(file []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(file)) {
		if user, hash, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[user] = hash
		}
	}
	return out
}

// Package digest computes keyed digests, which cannot be compared with guesses of the content without the key. It also
// shortens digests for plans and states.
package digest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// shownHex is how many hexadecimal digits Short and Shown have.
const shownHex = 16

// Keyed returns the HMAC-SHA256 of a content in hexadecimal digits.
func Keyed(key, content []byte) string {
	mac := hmac.New(sha256.New, key)
	// Hash.Write returns no error.
	_, _ = mac.Write(content)
	return hex.EncodeToString(mac.Sum(nil))
}

// Short returns Keyed as plans and states show it: "sha256:" and the first 16 hexadecimal digits.
func Short(key, content []byte) string { return "sha256:" + Keyed(key, content)[:shownHex] }

// Shown returns a SHA-256 sum as plans and states show it, as Short does.
func Shown(sum []byte) string { return "sha256:" + hex.EncodeToString(sum)[:shownHex] }

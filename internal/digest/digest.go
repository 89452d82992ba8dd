// Package digest computes SHA-256 digests as "sha256:" and hexadecimal digits, shortened ones for plans and states, and keyed ones, which
// cannot be compared with guesses of the content without the key.
package digest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

const prefix = "sha256:"

// shownHex is how many hexadecimal digits Short and Shown have.
const shownHex = 16

// Of returns the digest of a content.
func Of(content []byte) string {
	sum := sha256.Sum256(content)
	return prefix + hex.EncodeToString(sum[:])
}

// Sum returns the digest of what was written to a SHA-256 hash.
func Sum(h hash.Hash) string { return prefix + hex.EncodeToString(h.Sum(nil)) }

// Keyed returns the HMAC-SHA256 of a content in hexadecimal digits.
func Keyed(key, content []byte) string {
	mac := hmac.New(sha256.New, key)
	// Hash.Write returns no error.
	_, _ = mac.Write(content)
	return hex.EncodeToString(mac.Sum(nil))
}

// Short returns Keyed as plans and states show it: "sha256:" and the first 16 hexadecimal digits.
func Short(key, content []byte) string { return prefix + Keyed(key, content)[:shownHex] }

// Shown returns a SHA-256 sum as plans and states show it, as Short does.
func Shown(sum []byte) string { return prefix + hex.EncodeToString(sum)[:shownHex] }

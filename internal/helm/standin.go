package helm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/Masterminds/sprig/v3"
)

// A plan shows what depends on results that the apply makes. It needs results for that, of
// the same form and at no cost: they are made of the key of the call, and in another
// rendering different ones, so that a comparison shows what depends on them.

// seed is what a stand-in is made of.
type seed struct {
	key string
	// other asks for a stand-in that differs from the one without.
	other bool
}

// bytes are n bytes of the seed, the same with and without other.
func (s seed) bytes(n int) []byte {
	var out []byte
	for i := 0; len(out) < n; i++ {
		sum := sha256.Sum256([]byte(s.key + " " + strconv.Itoa(i)))
		out = append(out, sum[:]...)
	}
	return out[:max(n, 0)]
}

// text is a text of n characters, each another one with other.
func (s seed) text(n int, alphabet string) string {
	out := s.bytes(n)
	for i, b := range out {
		at := int(b)
		if s.other {
			at++
		}
		out[i] = alphabet[at%len(alphabet)]
	}
	return string(out)
}

// keyPEM is a private key.
func (s seed) keyPEM() string {
	raw := s.bytes(ed25519.SeedSize)
	if s.other {
		raw[0]++
	}
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(raw))
	if err != nil {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// The characters of random texts.
const (
	digits  = "0123456789"
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// ascii are the printable characters.
var ascii = func() string {
	var b strings.Builder
	for c := ' '; c <= '~'; c++ {
		b.WriteRune(c)
	}
	return b.String()
}()

// standIn gives the results of a call of f that is made later.
type standIn func(s seed, f reflect.Value, args []reflect.Value) []reflect.Value

// standIns are the functions that give something else at every call but those that read the
// clock, with what stands in for their results.
var standIns = map[string]standIn{
	"randAlphaNum": textOf(letters + digits), "randAlpha": textOf(letters), "randNumeric": textOf(digits), "randAscii": textOf(ascii),
	"randBytes": func(s seed, f reflect.Value, args []reflect.Value) []reflect.Value {
		raw := s.bytes(int(args[0].Int()))
		for i := range raw {
			if s.other {
				raw[i]++
			}
		}
		return texts(f, base64.StdEncoding.EncodeToString(raw))
	},
	"randInt": randIntStandIn,
	"shuffle": func(s seed, f reflect.Value, args []reflect.Value) []reflect.Value {
		all := []rune(args[0].String())
		if s.other && len(all) > 0 {
			all = append(all[1:], all[0])
		}
		return texts(f, string(all))
	},
	"uuidv4": func(s seed, f reflect.Value, _ []reflect.Value) []reflect.Value {
		h := s.text(32, "0123456789abcdef")
		return texts(f, fmt.Sprintf("%s-%s-4%s-a%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:]))
	},
	"bcrypt": func(s seed, f reflect.Value, _ []reflect.Value) []reflect.Value { return texts(f, s.hash()) },
	"htpasswd": func(s seed, f reflect.Value, args []reflect.Value) []reflect.Value {
		if strings.Contains(args[0].String(), ":") {
			return invoke(f, args)
		}
		return texts(f, args[0].String()+":"+s.hash())
	},
	// Each has its own initialisation vector or serial number.
	"encryptAES": made, "genCAWithKey": made, "genSelfSignedCertWithKey": made, "genSignedCertWithKey": made,
	"genPrivateKey": func(s seed, f reflect.Value, args []reflect.Value) []reflect.Value {
		switch args[0].String() {
		case "", "rsa", "dsa", "ecdsa", "ed25519":
			return texts(f, s.keyPEM())
		}
		return invoke(f, args)
	},
	"genCA": withKey("genCAWithKey"), "genSelfSignedCert": withKey("genSelfSignedCertWithKey"), "genSignedCert": withKey("genSignedCertWithKey"),
}

// hash has the form of a hash of bcrypt.
func (s seed) hash() string { return "$2a$10$" + s.text(53, "./"+letters+digits) }

func textOf(alphabet string) standIn {
	return func(s seed, f reflect.Value, args []reflect.Value) []reflect.Value {
		return texts(f, s.text(int(args[0].Int()), alphabet))
	}
}

// texts are the results of f with a text as the first one.
func texts(f reflect.Value, text string) []reflect.Value {
	out := []reflect.Value{reflect.ValueOf(text)}
	for i := 1; i < f.Type().NumOut(); i++ {
		out = append(out, reflect.Zero(f.Type().Out(i)))
	}
	return out
}

func randIntStandIn(s seed, f reflect.Value, args []reflect.Value) []reflect.Value {
	from, to := args[0].Int(), args[1].Int()
	if to <= from {
		return invoke(f, args)
	}
	at := int64(s.bytes(1)[0])
	if s.other {
		at++
	}
	return []reflect.Value{reflect.ValueOf(int(from + at%(to-from)))}
}

// made calls the function itself.
func made(_ seed, f reflect.Value, args []reflect.Value) []reflect.Value { return invoke(f, args) }

// withKey calls the function of another name, which takes a key as its last argument. To make
// one of RSA takes longer than everything else.
func withKey(name string) standIn {
	return func(s seed, _ reflect.Value, args []reflect.Value) []reflect.Value {
		return invoke(reflect.ValueOf(sprig.TxtFuncMap()[name]), append(args, reflect.ValueOf(s.keyPEM())))
	}
}

package otlptest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // for senders that compress
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// service takes spans over gRPC.
type service struct {
	coltracepb.UnimplementedTraceServiceServer
	receiver *Receiver
	// answer, when it is set, is asked first; its error is the answer.
	answer func(ctx context.Context) error
}

// NewGRPC starts a collector for gRPC that ends with the test; without TLS when secure is nil. Answer may be nil.
func NewGRPC(t testing.TB, secure *tls.Config, answer func(ctx context.Context) error) *Receiver {
	t.Helper()
	r := &Receiver{URL: "http://"}
	transport := insecure.NewCredentials()
	if secure != nil {
		r.URL, transport = "https://", credentials.NewTLS(secure)
	}
	server := grpc.NewServer(grpc.Creds(transport))
	coltracepb.RegisterTraceServiceServer(server, &service{receiver: r, answer: answer})
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.URL += listener.Addr().String()
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return r
}

// Export implements coltracepb.TraceServiceServer.
func (s *service) Export(ctx context.Context, sent *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	if s.answer != nil {
		if err := s.answer(ctx); err != nil {
			return nil, err
		}
	}
	body, err := proto.Marshal(sent)
	if err != nil {
		return nil, err
	}
	head := http.Header{}
	given, _ := metadata.FromIncomingContext(ctx)
	for name, values := range given {
		for _, value := range values {
			head.Add(name, value)
		}
	}
	s.receiver.take(sent, body, head)
	return &coltracepb.ExportTraceServiceResponse{}, nil
}

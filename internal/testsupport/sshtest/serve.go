package sshtest

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"golang.org/x/crypto/ssh"
)

var errDenied = errors.New("permission denied")

// conn is a connection that can be cut and fall silent.
type conn struct {
	net.Conn
	silent, ended chan struct{}
	once, endOnce sync.Once
}

func (c *conn) swallow() { c.once.Do(func() { close(c.silent) }) }

func (c *conn) cut() {
	c.endOnce.Do(func() { close(c.ended) })
	_ = c.Conn.Close()
}

func (c *conn) Close() error {
	c.cut()
	return nil
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.silent:
		<-c.ended
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *conn) Write(p []byte) (int, error) {
	select {
	case <-c.silent:
		return len(p), nil
	default:
		return c.Conn.Write(p)
	}
}

// serve serves one connection to its end.
func (s *Server) serve(accepted net.Conn) {
	c := &conn{Conn: accepted, silent: make(chan struct{}), ended: make(chan struct{})}
	defer c.cut()
	s.mu.Lock()
	refuse := s.refuse
	s.conns[c] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	}()
	if refuse {
		return
	}
	server, channels, requests, err := ssh.NewServerConn(c, s.config())
	if err != nil {
		return
	}
	s.mu.Lock()
	s.logins++
	s.mu.Unlock()
	// A question of any kind is answered, as OpenSSH does.
	s.closing.Go(func() { ssh.DiscardRequests(requests) })
	for channel := range channels {
		switch channel.ChannelType() {
		case "session":
			s.closing.Go(func() { s.session(channel, c.ended) })
		case "direct-tcpip":
			s.closing.Go(func() { s.forward(channel) })
		default:
			_ = channel.Reject(ssh.UnknownChannelType, "not known")
		}
	}
	_ = server.Close()
}

// session waits for the command and runs it.
func (s *Server) session(opening ssh.NewChannel, ended <-chan struct{}) {
	channel, requests, err := opening.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	for request := range requests {
		var asked struct{ Command string }
		if request.Type != "exec" || ssh.Unmarshal(request.Payload, &asked) != nil {
			if request.WantReply {
				_ = request.Reply(false, nil)
			}
			continue
		}
		s.mu.Lock()
		s.commands = append(s.commands, asked.Command)
		s.mu.Unlock()
		_ = request.Reply(true, nil)
		s.closing.Go(func() { ssh.DiscardRequests(requests) })
		s.run(channel, asked.Command, ended)
		return
	}
}

// run runs a command as sshd does: in a session of its own, which nobody ends but itself.
// Its status is sent when it ends, the end of the channel when its output ends too.
func (s *Server) run(channel ssh.Channel, command string, ended <-chan struct{}) {
	shell := s.options.Shell
	cmd := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], command)...) //nolint:gosec,noctx // It lives as long as it wants.
	cmd.Env = append(os.Environ(), s.options.Env...)
	cmd.SysProcAttr = ownSession()
	var pipes [3][2]*os.File
	for i := range pipes {
		reader, writer, err := os.Pipe()
		if err != nil {
			return
		}
		defer reader.Close()
		defer writer.Close()
		pipes[i] = [2]*os.File{reader, writer}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	if err := cmd.Start(); err != nil {
		return
	}
	s.started(cmd.Process, true)
	defer s.started(cmd.Process, false)
	_, _, _ = pipes[0][0].Close(), pipes[1][1].Close(), pipes[2][1].Close()
	s.closing.Go(func() {
		_, _ = io.Copy(pipes[0][1], channel)
		_ = pipes[0][1].Close()
	})
	var output sync.WaitGroup
	output.Go(func() { _, _ = io.Copy(channel, pipes[1][0]) })
	output.Go(func() { _, _ = io.Copy(channel.Stderr(), pipes[2][0]) })
	drained := make(chan struct{})
	go func() {
		output.Wait()
		close(drained)
	}()
	err := cmd.Wait()
	status := uint32(0)
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		status = uint32(failed.ExitCode()) & 255 //nolint:gosec // A status has eight bits; that of a signal is 255.
	}
	for range max(1, s.options.Statuses) {
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
	}
	select {
	case <-drained:
	case <-ended:
	}
	_ = channel.CloseWrite()
}

// started keeps count of what runs.
func (s *Server) started(p *os.Process, runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if runs {
		s.processes[p] = true
	} else {
		delete(s.processes, p)
	}
}

// killAll ends what has not ended by itself.
func (s *Server) killAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.processes {
		endSession(p)
	}
}

// forward connects to another host, as a jump host does.
func (s *Server) forward(opening ssh.NewChannel) {
	var to struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	if s.options.NoForwarding {
		_ = opening.Reject(ssh.Prohibited, "open failed")
		return
	}
	if err := ssh.Unmarshal(opening.ExtraData(), &to); err != nil {
		_ = opening.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	other, err := net.Dial("tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))) //nolint:noctx // It ends with its channel.
	if err != nil {
		_ = opening.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	defer other.Close()
	channel, requests, err := opening.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	s.closing.Go(func() { ssh.DiscardRequests(requests) })
	s.closing.Go(func() {
		_, _ = io.Copy(other, channel)
		_ = other.Close()
	})
	_, _ = io.Copy(channel, other)
}

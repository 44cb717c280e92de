/* wire.c - lines through a pipe or a local socket: waiting is bounded, signals are seen. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_signal.h"
#include "io/io_priv.h"
#include "io/weir_wire.h"

/* A signal is seen within this time. */
#define SLICE_MS 100

enum { BUFFER = 65536 };

struct weir_wire {
  int fd;     /* of the samples, -1: no sender yet */
  int server; /* -1: none                          */
  int port;
  bool is_socket, ended, skipping;
  char *path; /* of the socket file that is ours to remove */
  int64_t begin, end;
  char data[BUFFER];
};

typedef union socket_address {
  struct sockaddr any;
  struct sockaddr_in in;
  struct sockaddr_un un;
} socket_address;

static weir_status no_address(const char *address)
{
  return weir_fail(WEIR_ERR_CONFIG,
                   "live address '%s': expected -, tcp:[HOST:]PORT (HOST a numeric IPv4 address or "
                   "localhost) or unix:PATH",
                   address);
}

static weir_status tcp_address(const char *address, bool anywhere, struct sockaddr_in *out)
{
  const char *const host = address + strlen("tcp:"), *const colon = strrchr(host, ':');
  const char *const port = colon != NULL ? colon + 1 : host;
  char text[32] = "127.0.0.1";
  int64_t number = 0;

  if (!weir_io_parse_int(port, strlen(port), 0, 65535, &number) ||
      (colon != NULL && colon - host >= (int)sizeof text)) {
    return no_address(address);
  }
  if (colon != NULL && strncmp(host, "localhost:", strlen("localhost:")) != 0) {
    (void)snprintf(text, sizeof text, "%.*s", (int)(colon - host), host);
  }
  *out = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
  if (inet_pton(AF_INET, text, &out->sin_addr) != 1) {
    return no_address(address);
  }
  if (ntohl(out->sin_addr.s_addr) >> 24 != 127 && !anywhere) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "live address '%s' is not on this machine: connections are neither "
                     "authenticated nor encrypted: set remote=true in the same section to allow it",
                     address);
  }
  return WEIR_OK;
}

static weir_status make_address(const char *address, bool anywhere, socket_address *out,
                                socklen_t *size)
{
  memset(out, 0, sizeof *out);
  if (strncmp(address, "tcp:", 4) == 0) {
    *size = sizeof out->in;
    return tcp_address(address, anywhere, &out->in);
  }
  const char *const path = address + strlen("unix:");

  if (strncmp(address, "unix:", 5) != 0 || path[0] == 0) {
    return no_address(address);
  }
  if (strlen(path) >= sizeof out->un.sun_path) {
    return weir_fail(WEIR_ERR_CONFIG, "live address '%s': a socket's path has at most %zu bytes",
                     address, sizeof out->un.sun_path - 1);
  }
  out->un.sun_family = AF_UNIX;
  memcpy(out->un.sun_path, path, strlen(path));
  *size = sizeof out->un;
  return WEIR_OK;
}

static weir_status create(weir_wire **out)
{
  WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
  (*out)->fd = (*out)->server = -1;
  return WEIR_OK;
}

static weir_status refused(const char *address, const char *what)
{
  return weir_fail(WEIR_ERR_DATA, "live address '%s' cannot be %s: %s", address, what,
                   strerror(errno));
}

/* A socket file without a listener is left from a run that was killed. */
static void remove_stale(const socket_address *a, socklen_t size)
{
  struct stat info;
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (probe >= 0 && lstat(a->un.sun_path, &info) == 0 && S_ISSOCK(info.st_mode) &&
      connect(probe, &a->any, size) != 0 && errno == ECONNREFUSED) {
    (void)unlink(a->un.sun_path);
  }
  if (probe >= 0) {
    (void)close(probe);
  }
}

static weir_status listen_at(weir_wire *w, const char *address, bool anywhere)
{
  socket_address a;
  socklen_t size = 0;
  const int yes = 1;

  WEIR_TRY(make_address(address, anywhere, &a, &size));
  w->is_socket = true;
  w->server = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (w->server < 0) {
    return refused(address, "made");
  }
  if (a.any.sa_family == AF_UNIX) {
    remove_stale(&a, size);
  } else {
    (void)setsockopt(w->server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  }
  if (bind(w->server, &a.any, size) != 0) {
    return refused(address, "listened on");
  }
  if (a.any.sa_family == AF_UNIX) {
    WEIR_TRY(weir_strdup(a.un.sun_path, &w->path));
  }
  if (listen(w->server, 1) != 0 || getsockname(w->server, &a.any, &size) != 0) {
    return refused(address, "listened on");
  }
  w->port = a.any.sa_family == AF_INET ? ntohs(a.in.sin_port) : 0;
  return WEIR_OK;
}

weir_status weir_wire_listen(const char *address, bool anywhere, weir_wire **out)
{
  *out = NULL;
  weir_wire *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(create(&w));
  if (strcmp(address, "-") == 0) {
    w->fd = STDIN_FILENO;
  } else {
    WEIR_TRY_GOTO(listen_at(w, address, anywhere), done);
  }
  *out = w;
  return WEIR_OK;
done:
  weir_wire_close(&w);
  return status;
}

weir_status weir_wire_bind(const char *address, bool anywhere, int *fd, int *port)
{
  weir_wire *w = NULL;

  if (strncmp(address, "tcp:", 4) != 0) {
    return weir_fail(WEIR_ERR_CONFIG, "address '%s': expected tcp:[HOST:]PORT", address);
  }
  WEIR_TRY(create(&w));
  const weir_status status = listen_at(w, address, anywhere);

  if (status == WEIR_OK) {
    *fd = w->server;
    *port = w->port;
    w->server = -1;
  }
  weir_wire_close(&w);
  return status;
}

static weir_status connect_to(weir_wire *w, const char *address, bool anywhere, double patience)
{
  const double give_up = weir_clock() + patience;
  socket_address a;
  socklen_t size = 0;

  WEIR_TRY(make_address(address, anywhere, &a, &size));
  w->is_socket = true;
  for (;;) {
    w->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (w->fd < 0) {
      return refused(address, "made");
    }
    if (connect(w->fd, &a.any, size) == 0) {
      return WEIR_OK;
    }
    const int why = errno;

    (void)close(w->fd);
    w->fd = -1;
    errno = why;
    if ((why != ECONNREFUSED && why != ENOENT) || weir_clock() >= give_up ||
        weir_stop_requested()) {
      return refused(address, "reached");
    }
    (void)poll(NULL, 0, SLICE_MS);
  }
}

weir_status weir_wire_connect(const char *address, bool anywhere, double patience, weir_wire **out)
{
  *out = NULL;
  weir_wire *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(create(&w));
  if (strcmp(address, "-") == 0) {
    w->fd = STDOUT_FILENO;
  } else {
    WEIR_TRY_GOTO(connect_to(w, address, anywhere, patience), done);
  }
  *out = w;
  return WEIR_OK;
done:
  weir_wire_close(&w);
  return status;
}

void weir_wire_close(weir_wire **wire)
{
  weir_wire *w = *wire;

  if (w == NULL) {
    return;
  }
  if (w->is_socket && w->fd >= 0) {
    (void)close(w->fd);
  }
  if (w->server >= 0) {
    (void)close(w->server);
  }
  if (w->path != NULL) {
    (void)unlink(w->path);
  }
  weir_free(&w->path);
  weir_free(wire);
}

int weir_wire_port(const weir_wire *w)
{
  return w->port;
}

/* Waits up to `seconds` (in one slice at most) for `fd`. */
static bool is_ready(int fd, short events, double seconds)
{
  struct pollfd p = {.fd = fd, .events = events};
  const double ms = seconds * 1000 < SLICE_MS ? seconds * 1000 : SLICE_MS;

  return poll(&p, 1, ms > 0 ? (int)ms + 1 : 0) > 0;
}

/* The line at the beginning of the buffer, if its end is there (or no more will come). */
static bool find_line(weir_wire *w, weir_wire_event *event, const char **text, int64_t *size)
{
  char *const at = w->data + w->begin;
  char *const stop = memchr(at, '\n', (size_t)(w->end - w->begin));
  const int64_t n = stop != NULL ? stop - at : w->end - w->begin;
  const bool whole = stop != NULL || (w->ended && n > 0), was = w->skipping;

  if (!whole && n > WEIR_WIRE_LINE + 1) { /* one for CR */
    w->skipping = true;
    w->begin = w->end;
  }
  if (!whole) {
    return false;
  }
  w->begin += n + (stop != NULL);
  w->skipping = false;
  *event = was || n > WEIR_WIRE_LINE + 1 ? WEIR_WIRE_LONG : WEIR_WIRE_GOT;
  *text = at;
  *size = n;
  return true;
}

static weir_status fill(weir_wire *w)
{
  if (w->begin > 0) {
    memmove(w->data, w->data + w->begin, (size_t)(w->end - w->begin));
    w->end -= w->begin;
    w->begin = 0;
  }
  const ssize_t got = read(w->fd, w->data + w->end, (size_t)(BUFFER - w->end));

  if (got < 0 && errno != EINTR && errno != EAGAIN && errno != ECONNRESET) {
    return weir_fail(WEIR_ERR_EXTERNAL, "live input cannot be read: %s", strerror(errno));
  }
  w->ended = got == 0 || (got < 0 && errno == ECONNRESET);
  w->end += got > 0 ? got : 0;
  return WEIR_OK;
}

/* A sender that has gone again is no failure. */
static weir_status accept_sender(weir_wire *w)
{
  w->fd = accept4(w->server, NULL, NULL, SOCK_CLOEXEC);
  if (w->fd < 0 && errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) {
    return weir_fail(WEIR_ERR_EXTERNAL, "live input: cannot accept a connection: %s",
                     strerror(errno));
  }
  return WEIR_OK;
}

weir_status weir_wire_next(weir_wire *w, double wait, weir_wire_event *event, const char **text,
                           int64_t *size)
{
  const double until = wait > 0 ? weir_clock() + wait : 0;
  double left = wait;

  *text = "";
  *size = 0;
  for (;;) {
    if (w->fd >= 0 && find_line(w, event, text, size)) {
      return WEIR_OK;
    }
    if (w->ended) {
      /* What was skipped had no end either. */
      *event = w->skipping ? WEIR_WIRE_LONG : WEIR_WIRE_ENDED;
      w->skipping = false;
      return WEIR_OK;
    }
    const bool ready = is_ready(w->fd >= 0 ? w->fd : w->server, POLLIN, left);

    if (ready && w->fd >= 0) {
      WEIR_TRY(fill(w));
    } else if (ready) {
      WEIR_TRY(accept_sender(w));
    }
    left = wait > 0 ? until - weir_clock() : 0;
    if ((!ready && left <= 0) || weir_stop_requested()) { /* a line may have no end */
      *event = WEIR_WIRE_QUIET;
      return WEIR_OK;
    }
  }
}

weir_status weir_wire_send(weir_wire *w, const char *data, int64_t size)
{
  while (size > 0) {
    if (!is_ready(w->fd, POLLOUT, 1)) {
      if (weir_stop_requested()) {
        return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d while sending",
                         weir_stop_signal());
      }
      continue;
    }
    const ssize_t sent = w->is_socket ? send(w->fd, data, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                      : write(w->fd, data, (size_t)size);

    if (sent < 0 && errno != EINTR && errno != EAGAIN) {
      return weir_fail(WEIR_ERR_EXTERNAL, "live samples cannot be sent: %s", strerror(errno));
    }
    data += sent > 0 ? sent : 0;
    size -= sent > 0 ? sent : 0;
  }
  return WEIR_OK;
}

/* server.c - see server.h. One thread polls all sockets, none of which blocks. */
#include "live/server.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_lock.h"
#include "device/weir_worker.h"
#include "io/weir_wire.h"

/* The end of the server is seen within this time. */
enum { SLICE_MS = 100, BACKLOG = 16, HEAD = 512 };

typedef struct client {
  int fd; /* -1: none */
  double since;
  int have; /* bytes of the request */
  char request[PS_SERVER_REQUEST];
  char *answer; /* NULL until the request is complete; owned */
  size_t size, sent;
} client;

struct ps_server {
  int fd, port;
  bool remote;
  const char *page;
  size_t page_size;
  weir_worker *worker;
  client clients[PS_SERVER_CLIENTS];
  weir_lock lock; /* of what follows */
  bool ends;
  double asked; /* when the document last was */
  char *text;
  size_t text_size;
};

static void drop(client *c)
{
  if (c->fd >= 0) {
    (void)close(c->fd);
  }
  weir_free(&c->answer);
  c->fd = -1;
}

static void set_answer(client *c, const char *status, const char *type, const char *body,
                       size_t size)
{
  char head[HEAD];
  const int n =
      snprintf(head, sizeof head,
               "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n"
               "Cache-Control: no-store\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n"
               "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
               "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src "
               "'unsafe-inline'; connect-src 'self'; img-src data:\r\n\r\n",
               status, type, size);

  if (n < 0 || n >= HEAD || weir_alloc((int64_t)size + n, 1, (void **)&c->answer) != WEIR_OK) {
    weir_clear_failure();
    drop(c);
    return;
  }
  memcpy(c->answer, head, (size_t)n);
  memcpy(c->answer + n, body, size);
  c->size = (size_t)n + size;
  c->sent = 0;
}

static void refuse(client *c, const char *status)
{
  set_answer(c, status, "text/plain", status, strcspn(status, "\r"));
}

/* Whether text[n] is localhost or 127.x.x.x, with or without a port. */
static bool is_local(const char *text, size_t n)
{
  const char *const colon = memchr(text, ':', n);
  const size_t length = colon != NULL ? (size_t)(colon - text) : n;
  const size_t port = n - length;

  if (port == 1 || port > 6 || (port > 0 && strspn(colon + 1, "0123456789") < port - 1)) {
    return false;
  }
  return (length == 9 && strncasecmp(text, "localhost", 9) == 0) ||
         (length >= 9 && length <= 15 && strncmp(text, "127.", 4) == 0 &&
          strspn(text, "0123456789.") >= length);
}

/* Whether the request, ended by 0, has one Host, and that is this machine. */
static bool host_is_local(const char *request)
{
  bool found = false;

  for (const char *line = strstr(request, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, "host:", 5) != 0) {
      continue;
    }
    const char *const value = line + 5 + strspn(line + 5, " \t");

    if (found || !is_local(value, strcspn(value, " \t\r\n"))) {
      return false;
    }
    found = true;
  }
  return found;
}

static void answer_document(ps_server *s, client *c)
{
  weir_lock_take(&s->lock);
  s->asked = weir_clock();
  if (s->text != NULL) {
    set_answer(c, "200 OK", "application/json", s->text, s->text_size);
  } else {
    set_answer(c, "200 OK", "application/json", "{}", 2);
  }
  weir_lock_give(&s->lock);
}

/* The request is complete, and ended by 0. */
static void answer(ps_server *s, client *c)
{
  const char *const end = strstr(c->request, "\r\n");
  const char *const target = c->request + strcspn(c->request, " \r");
  const size_t method = (size_t)(target - c->request);
  const size_t length = *target == ' ' ? strcspn(target + 1, " \r") : 0;
  const char *const version = target + 1 + length;

  if (*target != ' ' || method == 0 || target[1] != '/' || version + 9 != end ||
      (strncmp(version, " HTTP/1.1", 9) != 0 && strncmp(version, " HTTP/1.0", 9) != 0)) {
    refuse(c, "400 Bad Request");
  } else if (!s->remote && !host_is_local(c->request)) {
    refuse(c, "403 Forbidden");
  } else if (method != 3 || strncmp(c->request, "GET", 3) != 0) {
    refuse(c, "405 Method Not Allowed\r\nAllow: GET");
  } else if (length == 1) {
    set_answer(c, "200 OK", "text/html", s->page, s->page_size);
  } else if (length == 5 && strncmp(target + 1, "/data", 5) == 0) {
    answer_document(s, c);
  } else {
    refuse(c, "404 Not Found");
  }
}

static void receive(ps_server *s, client *c)
{
  const ssize_t got =
      recv(c->fd, c->request + c->have, (size_t)(PS_SERVER_REQUEST - 1 - c->have), MSG_DONTWAIT);

  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
    drop(c);
    return;
  }
  c->have += got > 0 ? (int)got : 0;
  c->request[c->have] = 0;
  if (memchr(c->request, 0, (size_t)c->have) != NULL) {
    refuse(c, "400 Bad Request");
  } else if (strstr(c->request, "\r\n\r\n") != NULL) {
    answer(s, c);
  } else if (c->have == PS_SERVER_REQUEST - 1) {
    refuse(c, "431 Request Header Fields Too Large");
  }
}

static void transmit(client *c)
{
  const ssize_t n =
      send(c->fd, c->answer + c->sent, c->size - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    drop(c);
    return;
  }
  c->sent += n > 0 ? (size_t)n : 0;
  if (c->sent == c->size) {
    drop(c);
  }
}

static void accept_client(ps_server *s)
{
  const int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

  if (fd < 0) {
    (void)poll(NULL, 0, SLICE_MS); /* no descriptor is left: the client stays, and is tried again */
  }
  for (int i = 0; fd >= 0; i++) {
    if (s->clients[i].fd < 0) {
      s->clients[i] = (client){.fd = fd, .since = weir_clock()};
      return;
    }
  }
}

/* Waits for sockets and serves those that are ready. While all places are taken nobody is accepted.
 */
static void serve(ps_server *s)
{
  struct pollfd p[PS_SERVER_CLIENTS + 1];
  bool room = false;

  for (int i = 0; i < PS_SERVER_CLIENTS; i++) {
    const client *const c = &s->clients[i];

    p[i] = (struct pollfd){.fd = c->fd, .events = c->answer != NULL ? POLLOUT : POLLIN};
    room = room || c->fd < 0;
  }
  p[PS_SERVER_CLIENTS] = (struct pollfd){.fd = room ? s->fd : -1, .events = POLLIN};
  if (poll(p, PS_SERVER_CLIENTS + 1, SLICE_MS) > 0) {
    for (int i = 0; i < PS_SERVER_CLIENTS; i++) {
      client *const c = &s->clients[i];

      if (p[i].revents != 0 && c->answer != NULL) {
        transmit(c);
      } else if (p[i].revents != 0) {
        receive(s, c);
      }
    }
    if (p[PS_SERVER_CLIENTS].revents != 0) {
      accept_client(s);
    }
  }
  for (int i = 0; i < PS_SERVER_CLIENTS; i++) {
    if (s->clients[i].fd >= 0 && weir_clock() - s->clients[i].since > PS_SERVER_SECONDS) {
      drop(&s->clients[i]);
    }
  }
}

static weir_status run(void *context)
{
  ps_server *const s = context;

  for (bool ends = false; !ends;) {
    serve(s);
    weir_lock_take(&s->lock);
    ends = s->ends;
    weir_lock_give(&s->lock);
  }
  return WEIR_OK;
}

weir_status ps_server_open(const char *address, bool remote, const char *page, size_t size,
                           ps_server **out)
{
  ps_server *s = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  *s = (ps_server){.fd = -1,
                   .remote = remote,
                   .page = page,
                   .page_size = size,
                   .asked = -1e9,
                   .lock = WEIR_LOCK_INIT};
  for (int i = 0; i < PS_SERVER_CLIENTS; i++) {
    s->clients[i].fd = -1;
  }
  WEIR_TRY_GOTO(weir_wire_bind(address, remote, &s->fd, &s->port), fail);
  (void)listen(s->fd, BACKLOG);
  WEIR_TRY_GOTO(weir_worker_create(true, &s->worker), fail);
  weir_worker_start(s->worker, run, s);
  *out = s;
  return WEIR_OK;
fail:
  ps_server_close(&s);
  return status;
}

int ps_server_port(const ps_server *s)
{
  return s->port;
}

bool ps_server_is_asked(ps_server *s)
{
  weir_lock_take(&s->lock);
  const bool asked = weir_clock() - s->asked < PS_SERVER_SECONDS;
  weir_lock_give(&s->lock);
  return asked;
}

weir_status ps_server_publish(ps_server *s, const char *text, size_t size)
{
  char *copy = NULL;

  WEIR_TRY(weir_alloc((int64_t)size, 1, (void **)&copy));
  memcpy(copy, text, size);
  weir_lock_take(&s->lock);
  char *before = s->text;
  s->text = copy;
  s->text_size = size;
  weir_lock_give(&s->lock);
  weir_free(&before);
  return WEIR_OK;
}

void ps_server_close(ps_server **server)
{
  ps_server *const s = *server;

  if (s == NULL) {
    return;
  }
  weir_lock_take(&s->lock);
  s->ends = true;
  weir_lock_give(&s->lock);
  weir_worker_destroy(&s->worker);
  for (int i = 0; i < PS_SERVER_CLIENTS; i++) {
    drop(&s->clients[i]);
  }
  if (s->fd >= 0) {
    (void)close(s->fd);
  }
  weir_free(&s->text);
  weir_free(server);
}

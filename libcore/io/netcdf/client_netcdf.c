/* client_netcdf.c - requests to weir_netcdf_reader, and what is done when it does not answer. One
 * reader serves all files of this process, one request at a time: the library has global state and
 * would make them wait for each other all the same. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "io/netcdf/client_priv.h"

/* Milliseconds of processor time of a request that reads nothing: far more than the library needs,
 * for what a damaged file sends round in circles. Shared memory that is kept between requests. */
enum { LIMIT_MS = 30000, KEPT = 64 << 20 };

static struct reader {
  weir_lock lock;
  weir_reader_process process;
  int64_t limit_ms;
} reader = {.lock = WEIR_LOCK_INIT, .limit_ms = LIMIT_MS};

/* What an exchange came to. */
typedef enum outcome {
  ANSWERED,
  LOST,  /* the reader has ended, or says what cannot be */
  FAILED /* no reader can be asked */
} outcome;

static bool send_request(const weir_reader_request *q)
{
  const size_t bytes = offsetof(weir_reader_request, name) + strlen(q->name) + 1;

  return send(reader.process.socket, q, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool receive(weir_reader_reply *r)
{
  ssize_t n = 0;

  do {
    n = recv(reader.process.socket, r, sizeof *r, 0);
  } while (n < 0 && errno == EINTR);
  r->name[sizeof r->name - 1] = 0;
  return n == sizeof *r;
}

/* Takes a piece of values: within the memory that both share, and within what was asked for. */
static bool take_piece(const weir_reader_reply *r, char *data, int64_t capacity, int64_t *done)
{
  weir_reader_process *const p = &reader.process;

  if (r->bytes == 0) {
    return true;
  }
  if (r->bytes < 0 || r->offset < 0 || r->bytes > capacity - *done || r->memory < r->bytes ||
      r->offset > r->memory - r->bytes || !weir_reader_map(p, r->memory)) {
    return false;
  }
  memcpy(data + *done, p->memory + r->offset, (size_t)r->bytes);
  *done += r->bytes;
  return true;
}

static bool exchange(const weir_reader_request *q, weir_reader_reply *r, char *data,
                     int64_t capacity)
{
  static const weir_reader_request next = {.op = WEIR_READER_NEXT};
  int64_t done = 0;

  if (!send_request(q)) {
    return false;
  }
  for (;;) {
    if (!receive(r)) {
      return false;
    }
    if (r->status != WEIR_OK || capacity < 0) { /* -1: the caller takes the memory */
      return true;
    }
    if (!take_piece(r, data, capacity, &done)) {
      return false;
    }
    if (r->last) {
      return q->op != WEIR_READER_READ || done == capacity;
    }
    if (!send_request(&next)) {
      return false;
    }
  }
}

static bool same_file(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What the reader says of the variables of a file that it has opened. */
static weir_status take_vars(weir_netcdf_source *s, const weir_reader_reply *r, bool *good)
{
  const int64_t bytes = (int64_t)sizeof *s->vars * r->number;

  *good = r->number >= 0 && r->bytes == bytes && r->memory >= bytes &&
          weir_reader_map(&reader.process, r->memory);
  if (!*good) {
    return WEIR_OK;
  }
  weir_free(&s->vars);
  WEIR_TRY(weir_alloc(r->number, sizeof *s->vars, (void **)&s->vars));
  if (bytes > 0) {
    memcpy(s->vars, reader.process.memory, (size_t)bytes);
  }
  s->n_vars = r->number;
  s->file = r->file;
  s->of = reader.process.number;
  return WEIR_OK;
}

/* Closes a file of the running reader, which ends where it cannot. */
static void close_in_reader(int32_t file)
{
  const weir_reader_request q = {.op = WEIR_READER_CLOSE, .file = file};
  weir_reader_reply r = {0};

  if (!exchange(&q, &r, NULL, -1) || r.doubtful) {
    (void)weir_reader_stop(&reader.process);
  }
}

/* Has the file open in the running reader. A failure of the library is in *status. */
static outcome make_open(weir_netcdf *nc, weir_reader_reply *r, weir_status *status)
{
  weir_netcdf_source *const s = nc->source;
  weir_reader_request q = {.op = WEIR_READER_OPEN};
  struct stat is;
  bool good = false;

  if (stat(s->path, &is) != 0 || (s->is.st_ino != 0 && !same_file(&s->is, &is))) {
    *status =
        weir_fail(WEIR_ERR_DATA, "%s: the file changed while it was read: start again", nc->path);
    return FAILED;
  }
  s->is = is;
  strcpy(q.name, s->path);
  q.count[0] = s->store_bytes;
  strcpy(q.group, s->group != NULL ? s->group : "");
  reader.process.files++;
  if (!exchange(&q, r, NULL, -1)) {
    return LOST;
  }
  if (r->status != WEIR_OK) {
    return ANSWERED;
  }
  *status = take_vars(s, r, &good);
  if (*status != WEIR_OK) {
    close_in_reader(r->file);
  }
  return *status != WEIR_OK ? FAILED : good ? ANSWERED : LOST;
}

/* One attempt, with a reader that runs. */
static outcome try_once(weir_netcdf *nc, weir_reader_request *q, weir_reader_reply *r, void *data,
                        int64_t capacity, weir_status *status)
{
  weir_reader_process *const p = &reader.process;

  if (p->child != 0 && p->parent != getpid()) { /* that of the process that forked this one */
    (void)weir_reader_stop(p);
  }
  if (p->child == 0) {
    *status = weir_reader_start(p, reader.limit_ms);
    if (*status != WEIR_OK) {
      return FAILED;
    }
  }
  if (nc->source->of != p->number) {
    const outcome opened = make_open(nc, r, status);

    if (opened != ANSWERED || r->status != WEIR_OK || q->op == WEIR_READER_OPEN) {
      return opened;
    }
  }
  q->file = nc->source->file;
  return exchange(q, r, data, capacity) ? ANSWERED : LOST;
}

/* Why a file is not read any more: its reader ended like this (as of waitpid), twice. */
static weir_status lose(weir_netcdf *nc, int code)
{
  const int number = code >= 0 && WIFSIGNALED(code) ? WTERMSIG(code) : 0;
  char why[160];

  if (number == SIGPROF) {
    (void)snprintf(why, sizeof why, "took more than %g s of CPU time",
                   (double)reader.limit_ms / 1000);
  } else if (number != 0) {
    (void)snprintf(why, sizeof why, "failed (%s)", strsignal(number));
  } else {
    (void)snprintf(why, sizeof why, "failed");
  }
  (void)weir_fail(WEIR_ERR_DATA,
                  "%s: the HDF5 library %s while reading it: the file is damaged: copy or create "
                  "it again",
                  nc->path, why);
  if (weir_strdup(weir_last_message(), &nc->source->lost) != WEIR_OK) {
    return WEIR_ERR_MEMORY;
  }
  return weir_fail(WEIR_ERR_DATA, "%s", nc->source->lost);
}

/* Under the lock. */
static weir_status ask(weir_netcdf *nc, weir_reader_request *q, weir_reader_reply *r, void *data,
                       int64_t capacity)
{
  weir_reader_process *const p = &reader.process;
  weir_status status = WEIR_OK;

  if (nc->source->lost) {
    return weir_fail(WEIR_ERR_DATA, "%s", nc->source->lost);
  }
  for (;;) {
    const outcome got = try_once(nc, q, r, data, capacity, &status);

    if (got == FAILED) {
      return weir_trace_at(status, __FILE__, __LINE__, __func__);
    }
    if (got == ANSWERED) {
      break;
    }
    const bool alone = p->files <= 1; /* no other file can have done it */
    const int code = weir_reader_stop(p);
    const bool late = code >= 0 && WIFSIGNALED(code) && WTERMSIG(code) == SIGPROF;

    if (alone || late) {
      return lose(nc, code);
    }
  }
  if (r->status != WEIR_OK) {
    status = weir_fail((weir_status)r->status, "%s: %s", nc->path, r->name);
  }
  return status;
}

/* What follows a reply that has been used: a reader in doubt ends, memory in excess goes. */
static void settle(const weir_reader_reply *r)
{
  weir_reader_process *const p = &reader.process;

  if (r->doubtful || (!r->last && r->status != WEIR_OK)) {
    (void)weir_reader_stop(p);
  } else if (p->child != 0 && p->bytes > KEPT) {
    (void)fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, KEPT, p->bytes - KEPT);
  }
}

weir_status weir_reader_ask(weir_netcdf *nc, weir_reader_request *q, weir_reader_reply *r,
                            void *data, int64_t capacity)
{
  memset(r, 0, sizeof *r);
  weir_lock_take(&reader.lock);
  const weir_status status = ask(nc, q, r, data, capacity);

  settle(r);
  weir_lock_give(&reader.lock);
  return status;
}

weir_status weir_reader_ask_text(weir_netcdf *nc, weir_reader_request *q, char **text)
{
  weir_reader_reply r = {0};
  weir_status status = WEIR_OK;
  int64_t done = 0;
  void *memory = NULL;

  *text = NULL;
  weir_lock_take(&reader.lock);
  status = ask(nc, q, &r, NULL, -1);
  if (status == WEIR_OK) {
    status = weir_alloc(r.bytes + 1, 1, &memory);
  }
  if (status == WEIR_OK && !take_piece(&r, memory, r.bytes, &done)) {
    status = weir_fail(WEIR_ERR_EXTERNAL, "%s: the text of %s is incomplete", nc->path, q->name);
    weir_free(&memory);
  }
  settle(&r);
  weir_lock_give(&reader.lock);
  *text = memory;
  return status;
}

weir_status weir_reader_open(weir_netcdf *nc)
{
  weir_reader_request q = {.op = WEIR_READER_OPEN};
  weir_reader_reply r;

  return weir_reader_ask(nc, &q, &r, NULL, -1);
}

void weir_netcdf_source_close(weir_netcdf_source **source)
{
  weir_netcdf_source *const s = *source;

  if (!s) {
    return;
  }
  weir_lock_take(&reader.lock);
  weir_reader_process *const p = &reader.process;

  if (p->child != 0 && p->parent == getpid() && s->of == p->number) {
    close_in_reader(s->file);
  }
  weir_lock_give(&reader.lock);
  weir_free(&s->path);
  weir_free(&s->group);
  weir_free(&s->vars);
  weir_free(&s->lost);
  weir_free(source);
}

void weir_reader_reset(int64_t limit_ms)
{
  weir_lock_take(&reader.lock);
  (void)weir_reader_stop(&reader.process);
  reader.limit_ms = limit_ms > 0 ? limit_ms : LIMIT_MS;
  weir_lock_give(&reader.lock);
}

pid_t weir_reader_pid(void)
{
  return reader.process.child;
}

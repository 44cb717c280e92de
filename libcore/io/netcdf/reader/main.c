/* main.c - weir_netcdf_reader: answers requests on a socket until it is closed. Started by libweir
 * only (reader_netcdf.c): weir_netcdf_reader MILLISECONDS */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "reader.h"

/* Time that the library may take, and bytes a second that the slowest file gives. */
enum { OWN_MEMORY = 1 << 30, SLOWEST = 4 << 20, PLAUSIBLE = 1 << 30, MAX_DEFLATED = 1100 };

void reader_refuse(weir_reader_reply *r, weir_status status, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  r->status = (int32_t)status;
  (void)vsnprintf(r->name, sizeof r->name, format, args);
  va_end(args);
}

bool reader_good(weir_reader_reply *r, int code, const char *what)
{
  if (code == NC_NOERR) {
    return true;
  }
  /* Errors of HDF5 (the range that netcdf.h gives to NetCDF-4), and a size that was believed. */
  if (code == NC_ENOMEM || (code <= NC4_FIRST_ERROR && code >= NC4_LAST_ERROR)) {
    r->doubtful = true;
    reader_refuse(r, WEIR_ERR_DATA,
                  "%s: %s: the file is damaged or truncated: copy or create it again", what,
                  nc_strerror(code));
  } else {
    reader_refuse(r, WEIR_ERR_EXTERNAL, "%s: %s", what, nc_strerror(code));
  }
  return false;
}

int64_t reader_max_bytes(const reader_state *s)
{
  return s->file_bytes > PLAUSIBLE / MAX_DEFLATED ? s->file_bytes * MAX_DEFLATED : PLAUSIBLE;
}

bool reader_share(reader_state *s, weir_reader_reply *r, int64_t bytes)
{
  reader_memory *const m = &s->memory;

  if (bytes > m->bytes) {
    if (m->at != NULL) {
      (void)munmap(m->at, (size_t)m->bytes);
    }
    m->bytes = 0;
    m->at =
        ftruncate(WEIR_READER_MEMORY, bytes) != 0
            ? MAP_FAILED
            : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, WEIR_READER_MEMORY, 0);
    if (m->at == MAP_FAILED) {
      const int reason = errno;

      m->at = NULL;
      /* It counts as a file where ulimit -f, or a control group, gives a limit. */
      reader_refuse(
          r, reason == EFBIG || reason == ENOSPC ? WEIR_ERR_SPACE : WEIR_ERR_MEMORY,
          "%lld bytes of memory for passing values on: %s%s", (long long)bytes, strerror(reason),
          reason == EFBIG ? ": raise the file size limit (ulimit -f), then repeat the command"
                          : "");
      return false;
    }
    m->bytes = bytes;
  }
  r->memory = m->bytes;
  return true;
}

void reader_send(const weir_reader_reply *r)
{
  if (send(WEIR_READER_SOCKET, r, sizeof *r, MSG_NOSIGNAL) != sizeof *r) {
    _exit(0); /* the reader has ended */
  }
}

static bool receive(weir_reader_request *q)
{
  ssize_t n = 0;

  do {
    n = recv(WEIR_READER_SOCKET, q, sizeof *q, 0);
  } while (n < 0 && errno == EINTR);
  if (n <= (ssize_t)offsetof(weir_reader_request, name)) {
    return false;
  }
  q->name[(size_t)n - offsetof(weir_reader_request, name) - 1] = 0;
  return true;
}

void reader_wait(void)
{
  weir_reader_request q;

  if (!receive(&q) || q.op != WEIR_READER_NEXT) {
    _exit(0);
  }
}

void reader_allow(const reader_state *s, int64_t bytes)
{
  const struct itimerval limit = {
      .it_value = {.tv_sec = s->limit_ms / 1000 + bytes / SLOWEST,
                   .tv_usec = (suseconds_t)(s->limit_ms % 1000 * 1000)}};

  (void)setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the process */
}

/* No trace of a crash but its signal: it is expected, and Weir tells of it. */
static void limit_self(void)
{
  const struct rlimit none = {0};
  struct rlimit memory = {0};

  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_DUMPABLE, 0);
  if (getrlimit(RLIMIT_DATA, &memory) == 0 && memory.rlim_cur > OWN_MEMORY) {
    memory.rlim_cur = OWN_MEMORY;
    (void)setrlimit(RLIMIT_DATA, &memory);
  }
}

int main(int argc, char **argv)
{
  const struct itimerval never = {.it_value.tv_sec = 0};
  reader_state s = {.limit_ms = argc == 2 ? strtol(argv[1], NULL, 10) : 0};
  weir_reader_request q;
  weir_reader_reply r;

  if (s.limit_ms <= 0) { /* by hand */
    return 2;
  }
  /* A pipe of Weir's that a reader kept open would have no end. */
  (void)close_range(WEIR_READER_MEMORY + 1, ~0U, 0);
  limit_self();
  while (receive(&q)) {
    if (q.op == WEIR_READER_NEXT) { /* of pieces that were not waited for */
      continue;
    }
    memset(&r, 0, sizeof r);
    r.last = true;
    reader_allow(&s, 0);
    reader_answer(&s, &q, &r);
    (void)setitimer(ITIMER_PROF, &never, NULL);
    reader_send(&r);
  }
  _exit(0); /* files are only read: what stays open has nothing to lose */
}

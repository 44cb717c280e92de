/* reader.h - components of weir_netcdf_reader, the process that reads NetCDF files for Weir. It has
 * one thread and only local state; what a damaged file does to it ends with it. */
#ifndef WEIR_NETCDF_READER_H
#define WEIR_NETCDF_READER_H
#include <netcdf.h>
#include <stdbool.h>
#include "io/netcdf/reader_priv.h"

/* Memory that is shared with Weir: grows, never shrinks. */
typedef struct reader_memory {
  char *at;
  int64_t bytes;
} reader_memory;

typedef struct reader_state {
  reader_memory memory;
  int64_t limit_ms;   /* of processor time that a request may take, whatever it reads */
  int64_t file_bytes; /* size of the largest file so far */
} reader_state;

/* Answers one request; the last reply is left in *r, those before it are sent. */
void reader_answer(reader_state *s, const weir_reader_request *q, weir_reader_reply *r);
/* WEIR_READER_READ. */
void reader_read(reader_state *s, const weir_reader_request *q, weir_reader_reply *r);

/* Makes *r a failure of this status; `format` gives the reason. */
void reader_refuse(weir_reader_reply *r, weir_status status, const char *format, ...)
    WEIR_PRINTF(3, 4);
/* False, and *r a failure, where `code` is one. */
bool reader_good(weir_reader_reply *r, int code, const char *what);
/* Shares at least so many bytes. False, and *r a failure, where there is no memory. */
bool reader_share(reader_state *s, weir_reader_reply *r, int64_t bytes);
/* Sends *r, which is not the last. */
void reader_send(const weir_reader_reply *r);
/* Waits until a piece has been taken. */
void reader_wait(void);
/* Extends the time limit of the current request by the time to read so many bytes. */
void reader_allow(const reader_state *s, int64_t bytes);
/* Maximum plausible bytes of a variable or a chunk of a file of this size: deflate makes
 * a thousandth of what repeats. */
int64_t reader_max_bytes(const reader_state *s);
#endif

/* client_priv.h - asking weir_netcdf_reader, from libweir's side. */
#ifndef WEIR_NETCDF_CLIENT_PRIV_H
#define WEIR_NETCDF_CLIENT_PRIV_H
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "io/netcdf/netcdf_priv.h"
#include "io/netcdf/reader_priv.h"

struct weir_netcdf_source {
  char *path;          /* from the root on: the reader does not follow Weir into other folders */
  char *group;         /* NULL: the file */
  int64_t store_bytes; /* of a Zarr store: 1 and those of its chunks; 0: a file */
  struct stat is;
  int64_t of; /* the reader (its number) that has it open as `file` */
  int32_t file;
  int32_t n_vars;
  weir_reader_var *vars;
  char *lost; /* NULL, or why it is not asked for any more */
};

/* A running reader. */
typedef struct weir_reader_process {
  pid_t parent, child; /* child 0: none runs */
  int socket, fd;      /* fd: of the shared memory */
  char *memory;
  int64_t bytes;
  int64_t number; /* 1, 2, ...: of this reader, or the one before */
  int64_t files;  /* it has opened so far */
} weir_reader_process;

/* Starts a reader that gives a request `limit_ms` of processor time. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_reader_start(weir_reader_process *p, int64_t limit_ms) WEIR_CHECKED;
/* Ends it at once. Returns how it ended by itself, if it did (as of waitpid), or -1. */
int weir_reader_stop(weir_reader_process *p);
/* Maps shared memory that has grown; false where it has not. */
bool weir_reader_map(weir_reader_process *p, int64_t bytes);

/* Sends a request about a file and waits for its reply; `bytes` and what lies in memory go to
 * data[capacity]. A reader that ends is started again and asked again, with this file alone; that
 * one ending too is the file's fault. Fails as the reply says, naming the file. */
weir_status weir_reader_ask(weir_netcdf *nc, weir_reader_request *q, weir_reader_reply *r,
                            void *data, int64_t capacity) WEIR_CHECKED;
/* The same for texts: *text is allocated. */
weir_status weir_reader_ask_text(weir_netcdf *nc, weir_reader_request *q, char **text) WEIR_CHECKED;
/* Opens nc->source, of which the path is set. */
weir_status weir_reader_open(weir_netcdf *nc) WEIR_CHECKED;

/* For tests: the running reader; 0 where none is. */
pid_t weir_reader_pid(void);
#endif

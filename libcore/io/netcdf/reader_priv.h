/* reader_priv.h - messages between Weir and weir_netcdf_reader, the process that calls the library
 * to read files (docs/decisions/0023-reader-process.md). A request is answered by one reply; values
 * and texts lie in shared memory, in as many pieces (one reply each) as they need. */
#ifndef WEIR_NETCDF_READER_PRIV_H
#define WEIR_NETCDF_READER_PRIV_H
#include <stdint.h>
#include "io/weir_netcdf.h"

enum {
  WEIR_READER_SOCKET = 3, /* file descriptors of the reader */
  WEIR_READER_MEMORY = 4,
  WEIR_READER_PIECES = 2,       /* lie in the shared memory at the same time */
  WEIR_READER_GROUP_NAME = 768, /* of all groups on the way, with / between them */
  WEIR_READER_NAME = 4352
};

typedef enum weir_reader_op {
  WEIR_READER_OPEN,             /* name: path, group; count[0]: 0, or 1 and the bytes of a Zarr
                                   store; in memory: a weir_reader_var for each variable */
  WEIR_READER_CLOSE,            /* file */
  WEIR_READER_FIND,             /* name -> number */
  WEIR_READER_LOOK,             /* var -> supported, shape, dims */
  WEIR_READER_VAR_NAME,         /* var -> name */
  WEIR_READER_DIM_NAME,         /* number -> name */
  WEIR_READER_COUNT_ATTRIBUTES, /* var -> number */
  WEIR_READER_ATTRIBUTE,        /* var, number -> name, count, text */
  WEIR_READER_FIND_ATTRIBUTE,   /* var, name -> number (0: none), count, text, real */
  WEIR_READER_GET_TEXT,         /* var, name -> in memory */
  WEIR_READER_GET_NUMBERS,      /* var, name -> in memory: doubles */
  WEIR_READER_FILL,             /* var -> number (0: none), in memory: a double */
  WEIR_READER_READ,             /* var, start, count -> in memory, in pieces */
  WEIR_READER_READ_TEXT,        /* var, start -> in memory */
  WEIR_READER_GROUP,            /* number -> name (-1: none), count of groups */
  WEIR_READER_NEXT,             /* a piece has been taken; not answered by itself */
  WEIR_READER_OPS
} weir_reader_op;

/* What Weir keeps of a variable. */
typedef struct weir_reader_var {
  int32_t n_dims; /* -1: more than are handled */
  int32_t bytes;  /* of an element */
} weir_reader_var;

typedef struct weir_reader_request {
  int32_t op, file, var, number;
  int64_t start[WEIR_NETCDF_MAX_DIMS], count[WEIR_NETCDF_MAX_DIMS];
  char group[WEIR_READER_GROUP_NAME]; /* to open; empty: all of the file */
  char name[WEIR_READER_NAME];        /* sent up to its 0 */
} weir_reader_request;

typedef struct weir_reader_reply {
  int32_t status;   /* a weir_status */
  int32_t doubtful; /* the library failed: the reader is not used again */
  int32_t file, number, supported, text, real, last;
  int64_t count;
  int64_t memory, offset, bytes; /* of the shared memory in all, of the piece */
  weir_netcdf_shape shape;
  int32_t dims[WEIR_NETCDF_MAX_DIMS];
  char name[1024]; /* or the reason of a failure */
} weir_reader_reply;

/* For tests: milliseconds of processor time a request (0: the default), and a reader that is new.
 */
void weir_reader_reset(int64_t limit_ms);

#endif

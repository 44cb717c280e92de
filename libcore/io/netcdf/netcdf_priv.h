/* netcdf_priv.h - what writing and reading share. */
#ifndef WEIR_NETCDF_PRIV_H
#define WEIR_NETCDF_PRIV_H
#include <errno.h>
#include <netcdf.h>
#include <stddef.h>
#include "base/weir_file.h"
#include "io/weir_netcdf.h"

/* A file that is read: another process calls the library for it (reader_netcdf.c). */
typedef struct weir_netcdf_source weir_netcdf_source;

struct weir_netcdf {
  int id; /* of the library; -1 when closed, and for a file that is read */
  char *path;
  weir_writer *writer;        /* NULL for a file that is read */
  weir_netcdf_source *source; /* NULL for a file that is written */
  bool cf;                    /* stores types of CF 1.8 */
  uint8_t *declared;          /* [n_declared] dtypes of variables of a file with `cf` */
  int64_t n_declared, declared_capacity;
  weir_netcdf *groups, *next; /* its first group, its next sibling; a group's writer is that
                                 of its file, borrowed */
};

/* Ends the reading of a file; accepts NULL. */
void weir_netcdf_source_close(weir_netcdf_source **source);

/* Whether the header of a file of the classic formats is sound, and the file as long as it needs;
 * other formats are. Fails: WEIR_ERR_DATA. */
weir_status weir_netcdf_check_length(const char *path, int64_t size) WEIR_CHECKED;

/* Checks that the library reads a Zarr store as it is meant; *bytes: of its chunks. Fails:
 * WEIR_ERR_UNSUPPORTED for version 3, compressors, filters and what else the library misreads,
 * naming it and the remedy; WEIR_ERR_DATA for a damaged store. */
weir_status weir_netcdf_check_store(const char *path, int64_t *bytes) WEIR_CHECKED;

/* One call of the library, while no other thread is in it: it and HDF5 have global state; built for
 * parallel files they call MPI, also for others (weir_comm_borrow). Where the
 * call fails for want of space, errno says so. */
#define WEIR_NC_ALONE(call) (weir_netcdf_enter(), weir_netcdf_leave(call))
void weir_netcdf_enter(void);
/* Returns `code`. */
int weir_netcdf_leave(int code);
/* What a failure of the library is: WEIR_ERR_MEMORY, or what the caller says. */
static inline weir_status weir_netcdf_status(int code, weir_status other)
{
  return code == NC_ENOMEM ? WEIR_ERR_MEMORY : other;
}

/* The same, and turns a failure of the library into a status that names file, object and reason.
 * `nc` and `what` must be in scope. */
#define WEIR_NC(call)                                  \
  do {                                                 \
    const int nc_status_ = WEIR_NC_ALONE(call);        \
    if (nc_status_ != NC_NOERR) {                      \
      return weir_netcdf_failed(nc, nc_status_, what); \
    }                                                  \
  } while (0)

/* Records the failure of the library's last call, whose result is `code`: WEIR_ERR_SPACE for a file
 * that is written and errno of a full disk, WEIR_ERR_MEMORY or
 * WEIR_ERR_EXTERNAL. */
weir_status weir_netcdf_failed(const weir_netcdf *nc, int code, const char *what);

/* The file as NC_GLOBAL, a variable as itself. */
static inline int weir_netcdf_target(int var)
{
  return var == WEIR_NETCDF_FILE ? NC_GLOBAL : var;
}

/* Widens the corner and the edges of a box. Fails: WEIR_ERR_SHAPE for a negative one; the caller
 * provides space for WEIR_NETCDF_MAX_DIMS. */
weir_status weir_netcdf_box(const weir_netcdf *nc, int var, const int64_t *start,
                            const int64_t *count, size_t *corner, size_t *edges) WEIR_CHECKED;

/* Keeps two chunks of a variable in memory, and no more: the library's own limit is 16 MiB for
 * each, which reading and writing in order have no use for. A variable in one piece has none.
 * While no other thread is in the library. */
void weir_netcdf_limit_cache(int id, int var);
#endif

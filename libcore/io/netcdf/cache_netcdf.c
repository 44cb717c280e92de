/* cache_netcdf.c - how much of a variable the library keeps in memory, written or read. */
#include "io/netcdf/netcdf_priv.h"

/* Bytes: what a chunk may need is kept, whatever a file says of its size. */
enum { MAX_CACHE = 8 << 20 };

void weir_netcdf_limit_cache(int id, int var)
{
  size_t chunks[NC_MAX_VAR_DIMS];
  size_t bytes = 0;
  int n = 0;
  int storage = NC_CONTIGUOUS;
  nc_type type = NC_BYTE;

  if (nc_inq_var(id, var, NULL, &type, &n, NULL, NULL) != NC_NOERR || n < 1 ||
      nc_inq_var_chunking(id, var, &storage, chunks) != NC_NOERR || storage != NC_CHUNKED ||
      nc_inq_type(id, type, NULL, &bytes) != NC_NOERR) {
    return;
  }
  for (int i = 0; i < n; i++) {
    bytes = chunks[i] < MAX_CACHE ? bytes * chunks[i] : MAX_CACHE;
    bytes = bytes < MAX_CACHE ? bytes : MAX_CACHE;
  }
  /* What fails keeps the default. */
  (void)nc_set_var_chunk_cache(id, var, 2 * bytes, 7, 1.0f);
}

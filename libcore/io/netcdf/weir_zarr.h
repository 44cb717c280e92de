/* weir_zarr.h - folders that are Zarr stores of version 2, uncompressed: weir_netcdf_open opens one
 * as a file, and all functions that read take it. It fails with WEIR_ERR_UNSUPPORTED for stores
 * that the NetCDF library does not read as they are meant: version 3, compressors, filters and
 * others, naming the array and the remedy; with WEIR_ERR_DATA where chunks are cut or missing. */
#ifndef WEIR_ZARR_H
#define WEIR_ZARR_H
#include "io/weir_netcdf.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether the path is a folder with the metadata of a Zarr store, of any version; false in
 * a build without NetCDF. */
bool weir_netcdf_is_store(const char *path);
/* Returns the bytes of a file that is read; of a Zarr store those of its chunks. */
int64_t weir_netcdf_bytes(const weir_netcdf *nc);

#ifdef __cplusplus
}
#endif
#endif

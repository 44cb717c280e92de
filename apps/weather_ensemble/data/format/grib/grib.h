/* grib.h - GRIB files as a format of archives: what its sources share. */
#ifndef WX_GRIB_H
#define WX_GRIB_H
#include "data/archive/archive_format.h"
#include "io/weir_grib.h"

/* grib.c */
extern const wx_format wx_format_grib;
/* Returns the GRIB file of a state of wx_format_grib. Borrowed. */
const weir_grib *wx_grib_of(const void *state);
/* write.c */
extern const wx_sink wx_sink_grib;
#endif

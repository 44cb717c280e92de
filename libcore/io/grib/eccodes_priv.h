/* eccodes_priv.h - the library: one thread at a time, its complaints caught. */
#ifndef WEIR_GRIB_ECCODES_PRIV_H
#define WEIR_GRIB_ECCODES_PRIV_H
#include <eccodes.h>
#include "io/grib/grib_priv.h"

/* Stands for a missing value in what the library gives and takes; no packed value is this one. */
#define WEIR_GRIB_MISSING (-8.765432109876543e+200)

/* Runs work(context) while no other thread is in the library. Where an assertion of the library
 * fails inside, work does not return, its objects of the library are lost, and the library is not
 * used again: this and all later calls fail with WEIR_ERR_EXTERNAL. `work` holds no memory that its
 * context does not own. */
weir_status weir_grib_alone(weir_status (*work)(void *context), void *context) WEIR_CHECKED;
/* Inside such work: what a code of the library means, and what it said last, if anything. */
const char *weir_grib_reason(int code, char text[256]);

/* A message whose keys are taken. */
typedef struct weir_grib_keys {
  const uint8_t *bytes;
  int64_t size;
  const weir_grib_kind *known; /* of a message that says the same of itself, or NULL */
  weir_grib_kind kind;
  weir_grib_field field; /* all but its location, kind and grid */
  bool reforecast;       /* its start is not the reference time */
  struct weir_grib_shape {
    char type[32], id[40]; /* id: of the section of a reduced grid, else "" */
    int64_t n_lon, n_lat, gaussian, points, scanning, reduced, rotated;
    double first[2], last[2], step[2]; /* latitude, longitude; step 0: not given */
    double south_pole[2];
  } shape;
} weir_grib_keys;

/* Fills kind, field and shape; a key that is missing or out of range refuses the kind. */
weir_status weir_grib_keys_take(void *keys) WEIR_CHECKED;
/* Locations of the points of a reduced grid, in the order of its values, as the library computes
 * them: lat [points], lon [points]. False: `why` [WEIR_GRIB_WHY] says key and reason. Inside
 * weir_grib_alone. */
bool weir_grib_reduced_points(const weir_grib_keys *k, double *lat, double *lon, char *why);
/* Latitudes from north to south and longitudes from west to east of a shape, into lat [n_lat] and
 * lon [n_lon]; rows [2 * gaussian] is scratch. False: `why` [WEIR_GRIB_WHY] says key and reason.
 * Inside weir_grib_alone. */
bool weir_grib_points(const struct weir_grib_shape *s, double *lat, double *lon, double *rows,
                      bool *wraps, char *why);
#endif

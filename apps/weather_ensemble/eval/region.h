/* region.h - boxes of the grid that are scored by themselves. */
#ifndef WX_REGION_H
#define WX_REGION_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"

enum { WX_REGIONS = 64 }; /* the whole grid among them */

/* A box of coordinates, ends included; in degrees, or in the units of the plane. West may be larger
 * than east on a globe: the box goes over the meridian where longitudes begin again. */
typedef struct wx_region {
  const char *name;
  double south, north, west, east;
} wx_region;
extern const weir_opt wx_region_options[];

/* Region 0 is all the grid, called "all"; then come the boxes. */
typedef struct wx_regions {
  int64_t n;
  const char *name[WX_REGIONS];
  int64_t points[WX_REGIONS];
  uint64_t *mask; /* [cells] bit r: the point is in region r */
} wx_regions;

/* Checks that there are not too many, each with a name of its own. Fails: WEIR_ERR_CONFIG. */
weir_status wx_regions_check(const wx_region *box, int64_t n) WEIR_CHECKED;
/* Makes the regions. Fails: WEIR_ERR_CONFIG (too many; two of a name; a box without points);
 * WEIR_ERR_MEMORY. */
weir_status wx_regions_create(const wx_region *box, int64_t n, const wx_grid *grid,
                              wx_regions *out) WEIR_CHECKED;
void wx_regions_fini(wx_regions *r);
#endif

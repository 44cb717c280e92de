/* invariants.h - fields that do not change with time, of files of their own: the height of the
 * surface and the land-sea mask of a forecast model. */
#ifndef WX_INVARIANTS_H
#define WX_INVARIANTS_H
#include "data/archive/archive.h"
#include "data/regrid/regrid.h"

typedef enum wx_invariant { WX_OROGRAPHY, WX_LAND_SEA_MASK, WX_INVARIANTS } wx_invariant;
extern const char *const wx_invariant_name[WX_INVARIANTS];

typedef struct wx_invariants {
  float *field[WX_INVARIANTS]; /* [cells] m above sea level, share of land; NULL: no file has it */
  int64_t cells;
} wx_invariants;

/* Reads the fields of files onto the grid `to`. Quantities are told by paramId, name or
 * standard_name: a geopotential of the surface (m2 s-2) becomes a height by standard gravity,
 * 9.80665 m s-2. regrid: how a file on another grid is brought there; NULL: it is refused. The
 * caller ends it with wx_invariants_fini, also after a failure. Fails: as wx_archive_open_as and
 * wx_regrid_make; WEIR_ERR_DATA where a field is there twice, changes with time, has missing values
 * or values that its units do not allow, and where files have neither. */
weir_status wx_invariants_read(const weir_string_list *files, const wx_archive_in *how,
                               const wx_grid *to, const wx_regrid_opts *regrid,
                               wx_invariants *out) WEIR_CHECKED;
void wx_invariants_fini(wx_invariants *v);
/* Writes them as an archive of one time, on the grid of the forecasts `like`. history: of the file.
 * Fails: as wx_archive_create. */
weir_status wx_invariants_write(const wx_invariants *v, const wx_archive_info *like,
                                const char *history, const char *path) WEIR_CHECKED;
#endif

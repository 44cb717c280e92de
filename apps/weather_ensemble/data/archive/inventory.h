/* inventory.h - what archives really hold, field by field, before anything is made of them: what is
 * not there, missing values, minimum and maximum; and whether a truth goes with a forecast. */
#ifndef WX_INVENTORY_H
#define WX_INVENTORY_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"
#include "data/regrid/lapse.h"
#include "data/regrid/regrid.h"

/* A quantity at a lead. */
typedef struct wx_inventory_line {
  int64_t quantity, lead;
  int64_t expected, fields; /* of all initialisation times and members, and found; none: 0, 0 */
  int64_t values, missing;  /* of the fields that are there */
  double min, max, mean, sd;
} wx_inventory_line;

typedef struct wx_inventory {
  int64_t n;
  wx_inventory_line *line; /* [n_leads * n_quantities] */
  int64_t absent;          /* fields that are expected and not there */
  int64_t first[4];        /* start, lead, quantity, member of the first of them */
  int64_t *absent_at;      /* [n_init_times] of them */
} wx_inventory;

/* Reads every field. `copy` (NULL: none), a file of the same facts, is given them too. A quantity
 * that no start has at a lead is not expected there. Fails: as wx_archive_read and
 * wx_archive_write, WEIR_ERR_STOPPED. */
weir_status wx_inventory_take(wx_archive *a, wx_archive_writer *copy,
                              wx_inventory *out) WEIR_CHECKED;
/* The same without reading: fields are counted, and their values 0. */
weir_status wx_inventory_count(const wx_archive *a, wx_inventory *out) WEIR_CHECKED;
/* Returns the line of a quantity over all leads; its lead is -1. */
wx_inventory_line wx_inventory_pool(const wx_inventory *s, int64_t quantity);
void wx_inventory_fini(wx_inventory *s);

typedef enum wx_incomplete { WX_INCOMPLETE_REFUSE, WX_INCOMPLETE_KEEP } wx_incomplete;
#define WX_INCOMPLETE_CHOICES "refuse|keep"

typedef struct wx_import_opts {
  int64_t members; /* that every forecast has to have; 0: as many as there are */
  int incomplete;  /* wx_incomplete */
  bool convert, climate;
  wx_target_opts grid;
  wx_regrid_opts regrid;
  wx_lapse_opts height;
} wx_import_opts;
extern const weir_opt wx_import_options[];

/* Checks the inventory. Fails: WEIR_ERR_DATA, naming the archive, the first field that is not there
 * and how many, or the number of members. */
weir_status wx_inventory_check(const wx_archive_info *f, const wx_inventory *s,
                               const wx_import_opts *opts) WEIR_CHECKED;
/* Counts the initialisation times that have a truth at every lead: found[n_leads]. Fails:
 * WEIR_ERR_DATA where the truth has several members or leads, another grid, other units, no
 * quantity of the forecast's name, or no time in common. */
weir_status wx_inventory_pair(const wx_archive_info *forecast, const wx_archive_info *truth,
                              int64_t *found) WEIR_CHECKED;
/* Returns NULL, or what is strange about the values: codes for missing ones, other units than are
 * stated.
 */
const char *wx_inventory_doubt(const wx_quantity *q, const wx_inventory_line *line);
/* Warns in the name of `command` of what is doubted, unless it is *warned, the last warning of the
 * quantity (NULL: none), which is set. */
void wx_inventory_warn(const char *command, const wx_archive_info *f, const wx_inventory_line *line,
                       const char **warned);

/* The same for a command that reads fields one by one and does not survey them first: warns when
 * the first strange value comes. That all values are the same is not known then. */
typedef struct wx_watch {
  const wx_archive_info *facts; /* set by the caller, all else 0 */
  wx_inventory_line *line;      /* [n_quantities] of all leads; made by the first values */
  const char **warned;          /* [n_quantities] */
} wx_watch;
/* Takes n values of a quantity at a lead. */
weir_status wx_watch_take(wx_watch *w, const char *command, int64_t quantity, int64_t lead,
                          const float *x, int64_t n) WEIR_CHECKED;
void wx_watch_fini(wx_watch *w);
#endif

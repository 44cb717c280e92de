/* snapshot_info.c - see snapshot_info.h. */
#include "data/snapshot/snapshot_info.h"

const weir_opt cf_snapshot_options[] = {
    WEIR_OPT_ENUM(cf_snapshot_opts, length_unit, CF_LENGTH_AUTO, CF_LENGTH_CHOICES,
                  "unit of positions and box of files that do not state it (Gadget-2 and 3, "
                  "Quijote: as their authors describe them); auto: as the file states, else "
                  "refused"),
    WEIR_OPT_ENUM(cf_snapshot_opts, mass_unit, CF_MASS_AUTO, CF_MASS_CHOICES,
                  "unit of mass of files that do not state it, for masses of haloes; auto: as the "
                  "file states"),
    WEIR_OPT_END,
};

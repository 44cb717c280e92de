/* about.h - properties of a sample besides voxels and labels, as lines of text: for formats without
 * attributes (TFRecord: key "about"; NumPy: NAME_about.txt; .cfbin: after the labels).
 *
 *   labels omega_m sigma_8        label_lo 0.1 0.5       label_hi 0.5 1.1     (- not known)
 *   redshifts 0 0.5               quantity counts        box_size_mpc_h 256   cell_size_mpc_h 8
 *   physPar 0.31 0.82             cosmology omega_m omega_b h n_s sigma_8     corner 0 0 16
 *   line_of_sight z (of samples in redshift space)
 *   voxel_unit 1e10 (that the voxels were divided by before they were written)
 *   simulation seed 1; .. (seed and options of prepare, to the end of the line) */
#ifndef CF_ABOUT_H
#define CF_ABOUT_H
#include "data/volume/volume_info.h"

enum { CF_MAX_ABOUT = 4096 };

/* Prints the known properties as lines, "" for none. Always terminated. */
void cf_about_print(const cf_volume_info *info, const cf_facts *facts, char text[CF_MAX_ABOUT]);
/* Parses the lines for info->n_labels labels and info->lengths[3] channels; other lines are
 * ignored. Returns the key of the first invalid line; NULL: all are valid. */
const char *cf_about_parse(const char *text, cf_volume_info *info, cf_facts *facts);
#endif

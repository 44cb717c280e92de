/* volume_info.c - see volume_info.h. */
#include "data/volume/volume_info.h"

const weir_opt cf_volume_options[] = {
    WEIR_OPT_STRING(
        cf_volume_opts, volume, "",
        "key or variable of the voxels; empty: x, data_raw, full or volume, or the only variable "
        "of cubes"),
    WEIR_OPT_STRING(cf_volume_opts, labels, "",
                    "key or variable of the labels; empty: y, label_raw or unitPar"),
    WEIR_OPT_INT(cf_volume_opts, channels, 0, 0, CF_MAX_LABELS, "1",
                 "channels of files that do not say; 0: what makes a cube of their length"),
    WEIR_OPT_ENUM(cf_volume_opts, dtype, CF_RAW_AUTO, "auto|i16|f32|f64",
                  "type of voxels given as mere bytes; auto: i16, and f64 for data_raw"),
    WEIR_OPT_INT(
        cf_volume_opts, per_file, 0, 0, 1e9, "1",
        "samples of each TFRecord file, another number is refused; 0: every file is opened "
        "and looked through, compressed ones unpacked. Files of other formats state theirs"),
    WEIR_OPT_INT(cf_volume_opts, max_bytes, 2147483647, 1, 2147483647, "B",
                 "the longest record that is read: a compressed file cannot fill more memory"),
    WEIR_OPT_STRING(
        cf_volume_opts, segmentation, "",
        "variable of NetCDF or HDF5 with the class of every voxel; empty: segmentation, "
        "where there is one"),
    WEIR_OPT_STRING(cf_volume_opts, axes, "",
                    "what the dimensions of the variable of voxels are, a letter each: zyx in a "
                    "row, n of samples, c of channels, such as nczyx; of maps in NumPy arrays yx "
                    "alone, such as nyx; empty: by names, lengths and the array of classes, of "
                    "NumPy channels last"),
    WEIR_OPT_INT(cf_volume_opts, classes, 3, 2, CF_MAX_CLASSES, "1",
                 "classes that files have of their voxels, numbered from 0 (LiTS: background, "
                 "liver, tumour)"),
    WEIR_OPT_ENUM(cf_volume_opts, label_scale, CF_LABELS_UNIT, "unit|physical",
                  "how labels stand in files: in [-1, 1], or in the units of the parameters, which "
                  "are mapped to [-1, 1] by their ranges"),
    WEIR_OPT_REAL(cf_volume_opts, label_limit, 1, 1e-6, 1e30, "1",
                  "largest magnitude of a label that is taken; labels in [-1, 1] have 1, other "
                  "normalisations more"),
    WEIR_OPT_STRING_LIST(cf_volume_opts, names, "",
                         "names of the labels, in their order, of files that do not say them "
                         "(TFRecord of MLPerf HPC, NumPy)"),
    WEIR_OPT_REAL_LIST(
        cf_volume_opts, range, "", 0, 2 * CF_MAX_LABELS, "1",
        "the parameters at labels of -1 and 1, lo and hi of one after the other, of "
        "files that do not say them: predictions are in the units of the parameters"),
    WEIR_OPT_REAL_LIST(cf_volume_opts, redshifts, "", 0, CF_MAX_LABELS, "1",
                       "of the channels, in their order, of files that do not say them"),
    WEIR_OPT_ENUM(cf_volume_opts, voxels, CF_QUANTITY_AUTO, CF_QUANTITY_CHOICES,
                  "what voxels are that are trained on: whole counts; a density, not below 0; "
                  "anything; auto: what the file declares (quantity), else counts, with "
                  "data.scale=raw any plausible number; what cannot be is refused"),
    WEIR_OPT_REAL(cf_volume_opts, unit, 1, 1e-37, 1e37, "1",
                  "number that voxels of floats are divided by as they are read, so that "
                  "logarithms of masses or temperatures are of numbers about 1 (data.scale); what "
                  "convert wrote of such voxels is divided already and states it"),
    WEIR_OPT_REAL(cf_volume_opts, box, 0, 0, 1e6, "Mpc/h",
                  "side of the periodic box that each sample of files that state none is as wide "
                  "as (CAMELS: 25); 0: not known"),
    WEIR_OPT_TABLE(cf_volume_opts, parameters, cf_parameters_options,
                   "labels of files without: the samples of a file are of the lines of the table, "
                   "in their order; a file of one sample is of the line that a folder of its "
                   "path names"),
    WEIR_OPT_INT(cf_volume_opts, samples_per_line, 1, 1, 1e9, "1",
                 "consecutive samples of each line of files.parameters.table (maps of the CAMELS "
                 "Multifield Dataset: 15), which are of one universe"),
    WEIR_OPT_END,
};

const char *const cf_quantity_name[] = {"auto", "counts", "density", "any"};

double cf_volume_unit_of(const cf_volume_info *info)
{
  return info->unit > 0 ? info->unit : 1;
}

bool cf_volume_has_table(const cf_volume_opts *o)
{
  return o->parameters.table != NULL && o->parameters.table[0] != 0;
}

char cf_axis_letter(const char *word)
{
  return word[0] >= 'x' && word[0] <= 'z' && word[1] == 0 ? word[0] : 0;
}

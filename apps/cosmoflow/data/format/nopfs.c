/* nopfs.c - samples as NoPFS reads them (Dryden et al., SC'21; CosmoFlowBackend and
 * CosmoFlowDatasetBinary of github.com/spcl/NoPFS): 4 labels of f32, then the voxels, int16, in the
 * byte order of the machine that wrote them, which is little-endian here. One sample a file,
 * without a header: the shape follows from the length, and the order of the axes is stated by
 * files.axes, because its tools write either (channels first, and last with --no-transpose). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "data/volume/volume_format.h"
#include "io/file/weir_io_file.h"

enum { LABELS = 4, VOXELS = LABELS * 4 };

typedef struct state {
  int fd;
  bool first; /* channels come before the cube */
} state;

static void close_file(cf_volume_file *f)
{
  state *const h = f->state;

  if (h && h->fd >= 0) {
    (void)close(h->fd);
  }
  weir_free(&f->state);
}

static weir_status take_shape(cf_volume_file *f, int64_t size)
{
  const weir_dtype dtype = cf_volume_raw(f->opts->dtype);
  const int64_t each = (int64_t)weir_dtype_size(dtype), bytes = size - VOXELS;

  f->count = 1;
  f->info.n_labels = LABELS;
  f->info.dtype = dtype;
  if (bytes > 0 && bytes % each == 0 &&
      cf_volume_cube(bytes / each, f->opts->channels, f->info.lengths)) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: has %lld bytes: after the %d of 4 labels they are no cube of %s%lld "
                   "channels of %s; files.dtype and files.channels say what else they are; if "
                   "this is no sample, list the samples of the folder (.lst)",
                   f->path, (long long)size, VOXELS, f->opts->channels > 0 ? "" : "up to ",
                   (long long)(f->opts->channels > 0 ? f->opts->channels : CF_CUBE_CHANNELS),
                   weir_dtype_name(dtype));
}

/* Both orders of the axes are in use, and nothing in the file tells them apart. */
static weir_status take_axes(cf_volume_file *f)
{
  state *const h = f->state;
  const char *const axes = f->opts->axes;

  if (f->info.lengths[3] == 1 && (axes[0] == 0 || strcmp(axes, "zyx") == 0)) {
    return WEIR_OK;
  }
  if (strcmp(axes, "zyxc") == 0 || strcmp(axes, "czyx") == 0) {
    h->first = axes[0] == 'c';
    return WEIR_OK;
  }
  return weir_fail(
      WEIR_ERR_CONFIG,
      "%s: does not say whether its %lld channels come first, as NoPFS writes them, or "
      "last (its --no-transpose): files.axes states czyx or zyxc",
      f->path, (long long)f->info.lengths[3]);
}

static weir_status open_file(cf_volume_file *f)
{
  int64_t size = 0;
  state *h = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *h, &f->state));
  h = f->state;
  h->fd = -1;
  WEIR_TRY_GOTO(weir_io_open(f->path, &h->fd, &size), done);
  WEIR_TRY_GOTO(take_shape(f, size), done);
  WEIR_TRY_GOTO(take_axes(f), done);
  (void)snprintf(f->info.layout, sizeof f->info.layout, "NoPFS%s",
                 h->first ? ", channels first" : "");
done:
  if (status != WEIR_OK) {
    close_file(f);
  }
  return status;
}

/* Planes of each channel, brought to channels last. */
static weir_status read_channels(cf_volume_file *f, int64_t d0, int64_t d1, char *out)
{
  const state *const h = f->state;
  const int64_t channels = f->info.lengths[3], plane = f->info.lengths[1] * f->info.lengths[2];
  const int64_t n = (d1 - d0) * plane, cells = cf_volume_cells(&f->info);
  const size_t size = weir_dtype_size(f->info.dtype);
  char *raw = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(n, size, (void **)&raw));
  for (int64_t c = 0; c < channels && status == WEIR_OK; c++) {
    status = weir_io_pread(h->fd, f->path, raw, (size_t)n * size,
                           VOXELS + (c * cells + d0 * plane) * (int64_t)size);
    for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
      memcpy(out + (size_t)(i * channels + c) * size, raw + (size_t)i * size, size);
    }
  }
  weir_free(&raw);
  return status;
}

static weir_status read_planes(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out)
{
  const state *const h = f->state;
  const int64_t plane = cf_volume_plane(&f->info) * (int64_t)weir_dtype_size(f->info.dtype);

  (void)sample; /* the only one */
  return h->first
             ? read_channels(f, d0, d1, out)
             : weir_io_pread(h->fd, f->path, out, (size_t)((d1 - d0) * plane), VOXELS + d0 * plane);
}

static weir_status read_labels(cf_volume_file *f, int64_t sample, double *out)
{
  const state *const h = f->state;
  float labels[LABELS];

  (void)sample;
  WEIR_TRY(weir_io_pread(h->fd, f->path, labels, sizeof labels, 0));
  for (int k = 0; k < LABELS; k++) {
    out[k] = (double)labels[k];
  }
  return WEIR_OK;
}

const cf_volume_format cf_volume_format_nopfs = {
    .name = "nopfs",
    .help = "files of NoPFS: 4 labels (f32) and a cube of int16; read only",
    .suffix = ".bin",
    .endings = ".bin",
    .open = open_file,
    .close = close_file,
    .read = read_planes,
    .labels = read_labels,
    .axes = true,
    .single = true,
};

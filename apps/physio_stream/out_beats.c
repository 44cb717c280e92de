/* out_beats.c - see out_beats.h. */
#include "out_beats.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/record_time.h"
#include "io/weir_annotation.h"
#include "io/weir_netcdf.h"
#include "model/detect.h"

#define HEAD "sample,time_s,rr_s,gap_before\n"

enum { PATH_SIZE = 4096, BLOCK = 4096, ROW = 128 };

weir_status ps_out_beats_init(const ps_input_info *facts, ps_out_beats *out)
{
  *out = (ps_out_beats){.facts = facts, .absent = -1};
  out->kept = tmpfile();
  out->gaps = tmpfile();
  if (out->kept == NULL || out->gaps == NULL) {
    return weir_temporary_failed("beats", errno);
  }
  return WEIR_OK;
}

void ps_out_beats_fini(ps_out_beats *b)
{
  if (b->kept != NULL) {
    (void)fclose(b->kept);
  }
  if (b->gaps != NULL) {
    (void)fclose(b->gaps);
  }
  weir_free(&b->strip);
  *b = (ps_out_beats){0};
}

double ps_beat_position(const ps_beat *beat)
{
  return (double)beat->sample + (double)beat->fraction / PS_DETECT_PER_SAMPLE;
}

static double seconds(const ps_out_beats *b, double samples)
{
  return samples * (double)b->facts->fs_den / (double)b->facts->fs_num;
}

static void count_interval(ps_out_beats *b, double rr)
{
  const double bin = rr / PS_RR_BIN;

  b->n_rr++;
  b->rr_sum += rr;
  b->rr_square += rr * rr;
  b->rr_odd += rr < 0.3 || rr > 2;
  b->rr_ms[rr * 1000 < PS_RR_MS ? (int)lround(rr * 1000) : PS_RR_MS]++;
  b->rr_count[bin < PS_RR_BINS ? (int)bin : PS_RR_BINS - 1]++;
}

/* A row of beats.csv; rr in s, NaN where there is none. */
static void write_row(const ps_out_beats *b, const ps_beat *beat, double rr, char text[ROW])
{
  const int gap = (beat->flags & PS_BEAT_GAP) != 0;
  const int n = snprintf(text, ROW, "%lld,%.6f,", (long long)beat->sample,
                         seconds(b, ps_beat_position(beat)));

  if (isnan(rr)) {
    (void)snprintf(text + n, (size_t)(ROW - n), ",%d\n", gap);
  } else {
    (void)snprintf(text + n, (size_t)(ROW - n), "%.6f,%d\n", rr, gap);
  }
}

static weir_status follow(const ps_out_beats *b, const ps_beat *beat)
{
  char text[ROW];

  write_row(b, beat, beat->flags == 0 ? seconds(b, ps_beat_position(beat) - b->last) : NAN, text);
  if (fputs(text, b->follow) < 0) {
    return weir_output_failed("beats", errno);
  }
  return WEIR_OK;
}

static weir_status add(ps_out_beats *b, int64_t sample, int64_t gap, int64_t fraction)
{
  const ps_beat beat = {.sample = sample,
                        .fraction = fraction,
                        .flags = (b->n == 0 ? PS_BEAT_FIRST : 0) | (gap ? PS_BEAT_GAP : 0)};

  if (fwrite(&beat, sizeof beat, 1, b->kept) != 1) {
    return weir_temporary_failed("beats", errno);
  }
  if (b->follow != NULL) {
    WEIR_TRY(follow(b, &beat));
  }
  if (beat.flags == 0) {
    count_interval(b, seconds(b, ps_beat_position(&beat) - b->last));
  }
  b->last = ps_beat_position(&beat);
  b->n++;
  return WEIR_OK;
}

weir_status ps_out_beats_add(ps_out_beats *b, const int64_t *sample, const int64_t *gap,
                             const int64_t *fraction, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(add(b, sample[i], gap[i], fraction[i]));
  }
  if (n > 0 && b->follow != NULL && fflush(b->follow) != 0) {
    return weir_output_failed("beats", errno);
  }
  return WEIR_OK;
}

/* The open gap, if there is one, ends before slot `end`. */
static weir_status end_gap(ps_out_beats *b, int64_t end)
{
  const int64_t span[2] = {b->absent, end};

  b->absent = -1;
  if (span[0] < 0) {
    return WEIR_OK;
  }
  if (fwrite(span, sizeof span, 1, b->gaps) != 1) {
    return weir_temporary_failed("beats", errno);
  }
  b->n_gaps++;
  return WEIR_OK;
}

/* Slots up to `at` that did not come are absent. */
static void skip_to(ps_out_beats *b, int64_t at)
{
  if (at > b->seen && b->absent < 0) {
    b->absent = b->seen;
  }
  b->seen = at > b->seen ? at : b->seen;
}

weir_status ps_out_beats_present(ps_out_beats *b, int64_t lo, int64_t hi, const uint8_t *present)
{
  skip_to(b, lo);
  for (int64_t t = b->seen; t < hi;) {
    const uint8_t *edge = memchr(present + (t - lo), b->absent < 0 ? 0 : 1, (size_t)(hi - t));

    if (edge == NULL) {
      break;
    }
    t = lo + (edge - present);
    if (b->absent < 0) {
      b->absent = t;
    } else {
      WEIR_TRY(end_gap(b, t));
    }
  }
  b->seen = hi > b->seen ? hi : b->seen;
  return WEIR_OK;
}

weir_status ps_out_beats_end(ps_out_beats *b, int64_t slots)
{
  skip_to(b, slots);
  return end_gap(b, slots);
}

weir_status ps_out_beats_follow(ps_out_beats *b, FILE *out)
{
  b->follow = out;
  if (fputs(HEAD, out) < 0 || fflush(out) != 0) {
    return weir_output_failed("beats", errno);
  }
  return WEIR_OK;
}

double ps_out_beats_rr_mean(const ps_out_beats *b)
{
  return b->n_rr > 0 ? b->rr_sum / (double)b->n_rr : NAN;
}

double ps_out_beats_rr_std(const ps_out_beats *b)
{
  const double mean = ps_out_beats_rr_mean(b), n = (double)b->n_rr;

  return b->n_rr > 1 ? sqrt(fmax(0, (b->rr_square - n * mean * mean) / (n - 1))) : NAN;
}

double ps_out_beats_rr_quantile(const ps_out_beats *b, double share)
{
  const double rank = fmax(1, ceil(share * (double)b->n_rr));
  int64_t below = 0;

  if (b->n_rr == 0) {
    return NAN;
  }
  for (int ms = 0; ms < PS_RR_MS; ms++) {
    below += b->rr_ms[ms];
    if ((double)below >= rank) {
      return ms / 1000.0;
    }
  }
  return PS_RR_MS / 1000.0;
}

/* The files being written. */
typedef struct files {
  weir_annotation_writer *qrs;
  weir_writer *csv;
  weir_netcdf *nc; /* NULL without NetCDF */
  int sample, time, rr, flags;
  int64_t gap[2], gaps_left; /* the next gap, of so many after it */
  int gap_side;              /* of it to mark next: 0, 1; 2: none */
} files;

static weir_status open_qrs(const ps_out_beats *b, const char *dir, files *f)
{
  /* Stated, so that times are known without the record; else annotations count its frames. */
  const weir_annotations head = {.fs_num = b->facts->fs_num, .fs_den = b->facts->fs_den};
  char path[PATH_SIZE], name[512];

  (void)snprintf(name, sizeof name, "%s.qrs", b->facts->name);
  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  return weir_annotation_writer_open(path, &head, &f->qrs);
}

static weir_status open_csv(const char *dir, files *f)
{
  char path[PATH_SIZE];

  WEIR_TRY(weir_path_join(dir, "beats.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &f->csv));
  return weir_writer_printf(f->csv, HEAD);
}

static weir_status describe_file(const ps_out_beats *b, weir_netcdf *nc)
{
  const char *names[] = {b->facts->name};
  const double rate = (double)b->facts->fs_num / (double)b->facts->fs_den;
  int record = 0;

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "featureType", "timeSeries"));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "signal", b->facts->signal));
  WEIR_TRY(weir_netcdf_put_numbers(nc, WEIR_NETCDF_FILE, "sampling_rate", WEIR_F64, &rate, 1));
  WEIR_TRY(weir_netcdf_text_var(nc, "record", 0, NULL, &record));
  WEIR_TRY(weir_netcdf_put_text(nc, record, "cf_role", "timeseries_id"));
  WEIR_TRY(weir_netcdf_put_text(nc, record, "long_name", "name of the recording"));
  return weir_netcdf_write_texts(nc, record, NULL, NULL, names);
}

static weir_status describe_flags(weir_netcdf *nc, int flags)
{
  static const uint8_t masks[] = {PS_BEAT_FIRST, PS_BEAT_GAP};

  WEIR_TRY(weir_netcdf_put_text(nc, flags, "long_name", "why there is no RR interval"));
  WEIR_TRY(weir_netcdf_put_numbers(nc, flags, "flag_masks", WEIR_U8, masks, 2));
  return weir_netcdf_put_text(nc, flags, "flag_meanings", "first_beat gap_before");
}

static weir_status open_netcdf(const ps_out_beats *b, const char *dir, files *f)
{
  const int64_t chunk = BLOCK;
  const double nan_value = NAN;
  char path[PATH_SIZE];
  int dim = 0;

  WEIR_TRY(weir_path_join(dir, "beats.nc", path, sizeof path));
  WEIR_TRY(weir_netcdf_create_cf(path, "physio_stream: heart beats of one recording", &f->nc));
  WEIR_TRY(weir_netcdf_dim(f->nc, "beat", b->n > 0 ? b->n : WEIR_NETCDF_UNLIMITED, &dim));
  WEIR_TRY(weir_netcdf_whole_var(f->nc, "sample", b->facts->count, 1, &dim, &f->sample));
  WEIR_TRY(weir_netcdf_var(f->nc, "time", WEIR_I64, 1, &dim, &f->time));
  WEIR_TRY(weir_netcdf_var(f->nc, "rr", WEIR_F64, 1, &dim, &f->rr));
  WEIR_TRY(weir_netcdf_var(f->nc, "flags", WEIR_U8, 1, &dim, &f->flags));
  const int vars[] = {f->sample, f->time, f->rr, f->flags};

  for (int i = 0; i < 4 && b->n >= chunk; i++) {
    WEIR_TRY(weir_netcdf_chunk(f->nc, vars[i], &chunk, 4));
  }
  WEIR_TRY(weir_netcdf_put_text(f->nc, f->sample, "long_name", "sample of the R wave"));
  WEIR_TRY(ps_time_describe(b->facts, f->nc, f->time));
  WEIR_TRY(weir_netcdf_put_text(f->nc, f->rr, "long_name", "interval from the beat before"));
  WEIR_TRY(weir_netcdf_put_text(f->nc, f->rr, "units", "s"));
  WEIR_TRY(weir_netcdf_put_text(f->nc, f->rr, "coordinates", "time record"));
  WEIR_TRY(weir_netcdf_put_numbers(f->nc, f->rr, "_FillValue", WEIR_F64, &nan_value, 1));
  WEIR_TRY(describe_flags(f->nc, f->flags));
  return describe_file(b, f->nc);
}

/* Reads the next gap that is to be marked. */
static weir_status next_gap(const ps_out_beats *b, files *f)
{
  f->gap_side = 2;
  if (f->gaps_left == 0) {
    return WEIR_OK;
  }
  if (fread(f->gap, sizeof f->gap, 1, b->gaps) != 1) {
    return weir_fail(WEIR_ERR_DATA, "beats: the temporary file ends early");
  }
  f->gaps_left--;
  f->gap_side = 0;
  return WEIR_OK;
}

/* Ends of gaps up to slot `until`, as WFDB marks unreadable stretches: NOISE, and a subtype whose
 * bits 16 and 32 are set where one begins. None ends at the end of the signal. */
static weir_status mark_gaps(const ps_out_beats *b, files *f, int64_t until)
{
  while (f->gap_side < 2 && f->gap[f->gap_side] <= until && f->gap[f->gap_side] < b->seen) {
    const weir_annotation mark = {
        .time = f->gap[f->gap_side], .code = WEIR_ANN_NOISE, .subtype = f->gap_side == 0 ? -1 : 0};

    WEIR_TRY(weir_annotation_writer_append(f->qrs, &mark));
    if (++f->gap_side == 2) {
      WEIR_TRY(next_gap(b, f));
    }
  }
  return WEIR_OK;
}

static weir_status write_text(const ps_out_beats *b, files *f, const ps_beat *beat, double rr)
{
  const weir_annotation mark = {.time = beat->sample, .code = WEIR_ANN_NORMAL};
  char text[ROW];

  WEIR_TRY(mark_gaps(b, f, beat->sample));
  WEIR_TRY(weir_annotation_writer_append(f->qrs, &mark));
  write_row(b, beat, rr, text);
  return weir_writer_printf(f->csv, "%s", text);
}

/* n beats, the first of which is number `first`; `before` is the position of the beat before them.
 */
static weir_status write_block(const ps_out_beats *b, files *f, const ps_beat *beat, int64_t first,
                               int64_t n, double before)
{
  int64_t sample[BLOCK], time[BLOCK];
  double rr[BLOCK];
  uint8_t flags[BLOCK];

  for (int64_t i = 0; i < n; i++) {
    sample[i] = beat[i].sample;
    time[i] = ps_time_us(b->facts, b->facts->fs_num, b->facts->fs_den, beat[i].sample) +
              llround(seconds(b, ps_beat_position(&beat[i]) - (double)beat[i].sample) * 1e6);
    rr[i] = beat[i].flags == 0 ? seconds(b, ps_beat_position(&beat[i]) - before) : NAN;
    flags[i] = (uint8_t)beat[i].flags;
    before = ps_beat_position(&beat[i]);
    WEIR_TRY(write_text(b, f, &beat[i], rr[i]));
  }
  if (f->nc == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_write(f->nc, f->sample, &first, &n, sample));
  WEIR_TRY(weir_netcdf_write(f->nc, f->time, &first, &n, time));
  WEIR_TRY(weir_netcdf_write(f->nc, f->rr, &first, &n, rr));
  return weir_netcdf_write(f->nc, f->flags, &first, &n, flags);
}

static weir_status rewind_kept(const ps_out_beats *b)
{
  if (fflush(b->kept) != 0 || fseek(b->kept, 0, SEEK_SET) != 0 || fflush(b->gaps) != 0 ||
      fseek(b->gaps, 0, SEEK_SET) != 0) {
    return weir_temporary_failed("beats", errno);
  }
  return WEIR_OK;
}

/* The next n beats. */
static weir_status read_kept(const ps_out_beats *b, int64_t n, ps_beat *beat)
{
  if (fread(beat, sizeof *beat, (size_t)n, b->kept) != (size_t)n) {
    return weir_fail(WEIR_ERR_DATA, "beats: the temporary file ends early");
  }
  return WEIR_OK;
}

weir_status ps_out_beats_read(const ps_out_beats *b, int64_t n, ps_beat *beat)
{
  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(rewind_kept(b));
  return read_kept(b, n, beat);
}

static weir_status remember_strip(ps_out_beats *b, const ps_beat *beat, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (beat[i].sample >= b->strip_lo && beat[i].sample < b->strip_hi) {
      WEIR_TRY(weir_reserve(&b->strip, &b->n_strip_capacity, b->n_strip + 1, sizeof *b->strip));
      b->strip[b->n_strip++] = beat[i].sample;
    }
  }
  return WEIR_OK;
}

static weir_status write_all(ps_out_beats *b, files *f)
{
  ps_beat beat[BLOCK];
  double before = 0;

  WEIR_TRY(rewind_kept(b));
  f->gaps_left = b->n_gaps;
  WEIR_TRY(next_gap(b, f));
  for (int64_t first = 0; first < b->n; first += BLOCK) {
    const int64_t n = b->n - first < BLOCK ? b->n - first : BLOCK;

    WEIR_TRY(read_kept(b, n, beat));
    WEIR_TRY(write_block(b, f, beat, first, n, before));
    WEIR_TRY(remember_strip(b, beat, n));
    before = ps_beat_position(&beat[n - 1]);
  }
  return mark_gaps(b, f, b->seen);
}

weir_status ps_out_beats_write(ps_out_beats *b, const char *dir)
{
  files f = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(open_qrs(b, dir, &f), done);
  WEIR_TRY_GOTO(open_csv(dir, &f), done);
  if (weir_netcdf_available()) {
    WEIR_TRY_GOTO(open_netcdf(b, dir, &f), done);
  } else {
    weir_warn("run", "this build has no NetCDF: beats.nc is not written, %s.qrs and beats.csv are",
              b->facts->name);
  }
  WEIR_TRY_GOTO(write_all(b, &f), done);
  if (f.nc != NULL) {
    WEIR_TRY_GOTO(weir_netcdf_commit(&f.nc), done);
  }
  WEIR_TRY_GOTO(weir_writer_commit(&f.csv), done);
  WEIR_TRY_GOTO(weir_annotation_writer_commit(&f.qrs), done);
done:
  weir_annotation_writer_destroy(&f.qrs);
  weir_writer_destroy(&f.csv);
  weir_netcdf_close(&f.nc);
  return status;
}

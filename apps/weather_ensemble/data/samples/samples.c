/* samples.c - see samples.h. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "data/samples/members.h"
#include "data/samples/samples_priv.h"

static const weir_opt early_options[] = {
    WEIR_OPT_INT(wx_early, members, 0, 0, 100000, "1",
                 "members of inputs at leads of input_lead up to `until`, where more of them exist "
                 "than run to the end; 0: as data.members"),
    WEIR_OPT_REAL(wx_early, until, 0, 0, 1e6, "h", "last lead that these members reach"),
    WEIR_OPT_END,
};

/* What a network sees: the same rows in the section data and in that of a network of its own. */
// clang-format off
#define INPUT_ROWS(type)                                                                         \
    WEIR_OPT_STRING_LIST(type, inputs, "",                                                       \
                         "quantities that the network sees; none: all of the forecast"),         \
    WEIR_OPT_REAL_LIST(type, input_lead, "", 0, 1e6, "h",                                        \
                       "leads of the inputs, the same for all samples (arXiv:2005.08748: 0, 24, "\
                       "48); none: that of the sample"),                                         \
    WEIR_OPT_TABLE(type, early, early_options,                                                   \
                   "more members for the first leads than for the last"),                        \
    WEIR_OPT_BOOL(type, mean, true, "x has the mean of the members of every input"),             \
    WEIR_OPT_BOOL(type, spread, true, "x has their standard deviation"),                         \
    WEIR_OPT_BOOL(type, trajectory, false,                                                       \
                  "x has the first of the members by itself (arXiv:2005.08748: spread network)"),\
    WEIR_OPT_BOOL(type, analysis, false,                                                         \
                  "x has the truth at the initialisation time, so that the network forecasts in "\
                  "part (arXiv:2005.08748: bias network)"),                                      \
    WEIR_OPT_BOOL(type, position, false, "x has three channels that say where a cell is"),       \
    WEIR_OPT_BOOL(type, lead_time, false, "x has the lead / 240 h as a channel"),                \
    WEIR_OPT_BOOL(type, orography, false,                                                        \
                  "x has the height of the model's surface, of data.invariants, / 1000 m"),      \
    WEIR_OPT_BOOL(type, land_sea_mask, false,                                                    \
                  "x has the share of land, of data.invariants"),                                \
    WEIR_OPT_BOOL(type, altitude, false,                                                         \
                  "x has the height of stations above sea level / 1000 m"),                      \
    WEIR_OPT_BOOL(type, day_of_year, false,                                                      \
                  "x has sine and cosine of the day of the year of the valid time"),             \
    WEIR_OPT_BOOL(type, local_time, false,                                                       \
                  "x has sine and cosine of the mean solar time of the valid time")
// clang-format on

const weir_opt wx_input_options[] = {
    INPUT_ROWS(wx_input_opts),
    WEIR_OPT_END,
};

const weir_opt wx_data_options[] = {
    WEIR_OPT_STRING_LIST(wx_data_opts, forecast, "",
                         "files of the forecast archive, GRIB or NetCDF (prepare writes one); "
                         "names with * ? [ are patterns, as 'ens/*.nc'"),
    WEIR_OPT_STRING_LIST(
        wx_data_opts, truth, "",
        "files of the truth, or patterns: analyses whose initialisation time is the valid time"),
    WEIR_OPT_STRING_LIST(
        wx_data_opts, invariants, "",
        "files of fields that do not change with time, GRIB or NetCDF, or patterns: height or "
        "geopotential of the surface, land-sea mask; on the grid of the forecast (prepare brings "
        "them there)"),
    WEIR_OPT_TABLE(wx_data_opts, grib, wx_archive_in_options,
                   "how GRIB files of data.forecast and data.truth are read"),
    WEIR_OPT_TABLE(wx_data_opts, names, wx_archive_names_options,
                   "what fields of data.forecast and data.truth are called"),
    WEIR_OPT_STRING_LIST(wx_data_opts, target, "z500",
                         "quantities that are corrected, as z500; with a depth of levels "
                         "variables, as t"),
    WEIR_OPT_REAL_LIST(wx_data_opts, lead, "", 0, 1e6, "h",
                       "leads that are corrected; none: all above 0"),
    INPUT_ROWS(wx_data_opts),
    WEIR_OPT_REAL_LIST(wx_data_opts, levels, "", 0, 2000, "hPa", "depth level: the levels"),
    WEIR_OPT_INT(wx_data_opts, members, 0, 0, 100000, "1",
                 "members that are used, from data.first on; 0: all"),
    WEIR_OPT_INT(wx_data_opts, first, WX_FIRST_MEMBER, 0, 1e6, "1", WX_FIRST_MEMBER_HELP,
                 .alias = "skip"),
    WEIR_OPT_INT(wx_data_opts, ddof, 1, 0, 1, "1",
                 "the variance of members is divided by their number less this (arXiv:2005.08748 "
                 "and 2206.14786: 0)"),
    WEIR_OPT_ENUM(wx_data_opts, depth, WX_DEPTH_NONE, WX_DEPTH_CHOICES,
                  "a third dimension before latitude and longitude: data.levels, or data.lead (all "
                  "leads of an initialisation time are one sample then)"),
    WEIR_OPT_ENUM(wx_data_opts, label, WX_LABEL_TRUTH, WX_LABEL_CHOICES,
                  "what is learnt: the truth; or the standard deviation of label_members members "
                  "(arXiv:1911.00630)"),
    WEIR_OPT_INT(wx_data_opts, label_members, 0, 0, 100000, "1",
                 "label spread: members whose standard deviation it is; 0: all"),
    WEIR_OPT_ENUM(wx_data_opts, missing, WX_MISSING_REFUSE, WX_MISSING_CHOICES,
                  "inputs without a value: refused; or taken as the mean, and a channel for every "
                  "input says where (truth without a value has weight 0 in either case)"),
    WEIR_OPT_REAL(wx_data_opts, cache, 1024, 0, 1e9, "MiB",
                  "samples that were put together are kept in so much memory; a bias network with "
                  "other inputs keeps its own in as much again"),
    WEIR_OPT_TABLE(wx_data_opts, split, wx_split_options,
                   "subsets of the samples, by initialisation time"),
    WEIR_OPT_END,
};

wx_data_opts wx_data_with(const wx_data_opts *data, const wx_input_opts *own)
{
  wx_data_opts o = *data;

  o.inputs = own->inputs;
  o.input_lead = own->input_lead;
  o.early = own->early;
  o.mean = own->mean;
  o.spread = own->spread;
  o.trajectory = own->trajectory;
  o.analysis = own->analysis;
  o.position = own->position;
  o.lead_time = own->lead_time;
  o.each_member = o.whole_ensemble = false;
  o.orography = own->orography;
  o.land_sea_mask = own->land_sea_mask;
  o.altitude = own->altitude;
  o.day_of_year = own->day_of_year;
  o.local_time = own->local_time;
  return o;
}

bool wx_data_same_inputs(const wx_data_opts *a, const wx_data_opts *b)
{
  bool same = a->inputs.count == b->inputs.count && a->input_lead.count == b->input_lead.count &&
              a->early.members == b->early.members && a->early.until == b->early.until &&
              a->mean == b->mean && a->spread == b->spread && a->trajectory == b->trajectory &&
              a->analysis == b->analysis && a->position == b->position &&
              a->lead_time == b->lead_time && a->orography == b->orography &&
              a->land_sea_mask == b->land_sea_mask && a->altitude == b->altitude &&
              a->day_of_year == b->day_of_year && a->local_time == b->local_time;

  for (int64_t i = 0; same && i < a->inputs.count; i++) {
    same = strcmp(a->inputs.items[i], b->inputs.items[i]) == 0;
  }
  for (int64_t i = 0; same && i < a->input_lead.count; i++) {
    same = a->input_lead.items[i] == b->input_lead.items[i];
  }
  return same;
}

static weir_status allocate(wx_samples *s)
{
  const wx_info *f = &s->facts;
  const int64_t label = s->opts->label_members, all = wx_archive_get(s->forecast)->n_members;
  int64_t max_members =
      label > 0 || s->opts->label == WX_LABEL_TRUTH ? label : all - s->facts.first;

  max_members = max_members > s->members ? max_members : s->members;
  max_members = max_members > s->opts->early.members ? max_members : s->opts->early.members;
  const int64_t each = s->opts->each_member ? s->members : 0;
  const int64_t channels = f->n_channels[WX_X] + (3 + each) * f->n_channels[WX_Y];

  if (!weir_mul_ok(channels, f->cells, &s->block)) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: the members of a sample are too many", f->name);
  }
  s->max_cached = (int64_t)(s->opts->cache * 1048576 / ((double)s->block * sizeof *s->sample));
  WEIR_TRY(weir_alloc(max_members * s->plane, sizeof *s->scratch, (void **)&s->scratch));
  WEIR_TRY(weir_alloc(s->block, sizeof *s->sample, (void **)&s->sample));
  return weir_alloc(f->n, sizeof *s->cached, (void **)&s->cached);
}

weir_status wx_samples_open(const wx_data_opts *opts, wx_archive *forecast, wx_archive *truth,
                            bool y, wx_samples **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_samples), &memory));
  wx_samples *s = memory;

  s->opts = opts;
  s->forecast = forecast;
  s->truth = truth;
  s->y = y;
  s->watch[0].facts = wx_archive_get(forecast);
  s->watch[1].facts = truth != NULL ? wx_archive_get(truth) : NULL;
  weir_status status = wx_samples_plan(s);

  if (status == WEIR_OK) {
    status = allocate(s);
  }
  if (status != WEIR_OK) {
    wx_samples_close(&s);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = s;
  return WEIR_OK;
}

void wx_samples_close(wx_samples **s)
{
  if (*s == NULL) {
    return;
  }
  for (int64_t i = 0; i < (*s)->facts.n && (*s)->cached != NULL; i++) {
    weir_free(&(*s)->cached[i]);
  }
  weir_free(&(*s)->cached);
  weir_free(&(*s)->of_start);
  weir_free(&(*s)->of_lead);
  weir_free(&(*s)->start);
  weir_free(&(*s)->time);
  weir_free(&(*s)->weight);
  weir_free(&(*s)->field);
  weir_free(&(*s)->scratch);
  weir_free(&(*s)->sample);
  wx_invariants_fini(&(*s)->invariants);
  wx_watch_fini(&(*s)->watch[0]);
  wx_watch_fini(&(*s)->watch[1]);
  weir_free(s);
}

const wx_info *wx_samples_get(const wx_samples *s)
{
  return &s->facts;
}

/* ---- A sample ---- */

/* Mean and standard deviation over the members that are there, [plane] each or NULL; NaN where none
 * is. Two passes, in double. */
static void take_moments(const float *members, int64_t n, int64_t plane, int64_t ddof, float *mean,
                         float *sd)
{
  for (int64_t i = 0; i < plane; i++) {
    double sum = 0, square = 0;
    int64_t there = 0;

    for (int64_t k = 0; k < n; k++) {
      const double v = (double)members[k * plane + i];

      sum += isfinite(v) ? v : 0;
      there += isfinite(v);
    }
    const double middle = sum / (double)there; /* NaN: none is there */

    for (int64_t k = 0; k < n; k++) {
      const double d = (double)members[k * plane + i] - middle;

      square += isfinite(d) ? d * d : 0;
    }
    const double spread = there > ddof ? sqrt(square / (double)(there - ddof)) : 0;

    if (mean != NULL) {
      mean[i] = (float)middle;
    }
    if (sd != NULL) {
      sd[i] = there > 0 ? (float)spread : NAN;
    }
  }
}

static weir_status refuse(const wx_samples *s, int64_t sample, const wx_field *f, int64_t cell)
{
  const wx_archive_info *a = wx_archive_get(f->truth ? s->truth : s->forecast);
  char when[32];

  const bool whole = s->opts->whole_ensemble && f->raw >= 0;

  wx_date_text(s->start[sample], when, sizeof when);
  return weir_fail(
      WEIR_ERR_DATA,
      "%s: %s of the initialisation time %s has no value at latitude %lld, longitude %lld (counted "
      "from 0): fill it in, %s",
      a->name, a->quantity[f->quantity].name, when, (long long)(cell / a->grid.n_lon),
      (long long)(cell % a->grid.n_lon),
      whole
          ? "take members that are all there (data.first, data.members), or set model.coupling to "
            "mean"
          : "leave it out of data.inputs, or set data.missing to mask");
}

/* Where members are missing; in a channel that is kept, else refused. Room: the members. */
static weir_status look_for_holes(const wx_samples *s, int64_t sample, const wx_field *f,
                                  float *mask)
{
  const bool whole = s->opts->whole_ensemble && f->raw >= 0;
  const bool matters = f->mean >= 0 || f->sd >= 0 || f->one >= 0 || whole;

  for (int64_t i = 0; i < s->plane; i++) {
    int64_t holes = 0;

    for (int64_t k = 0; k < f->members; k++) {
      holes += !isfinite(s->scratch[k * s->plane + i]);
    }
    if (holes > 0 && matters && s->opts->missing == WX_MISSING_REFUSE) {
      return refuse(s, sample, f, i);
    }
    if (mask != NULL) {
      mask[i] = (float)holes / (float)f->members;
    }
  }
  return WEIR_OK;
}

/* A field of an archive; strange values are warned of. */
static weir_status read_field(wx_samples *s, bool truth, int64_t start, int64_t lead,
                              int64_t quantity, int64_t first, int64_t n, float *out)
{
  WEIR_TRY(wx_archive_read(truth ? s->truth : s->forecast, start, lead, quantity, first, n, out));
  return wx_watch_take(&s->watch[truth], "data", quantity, lead, out, n * s->plane);
}

/* Reads a field and puts it where it belongs in the block of a sample. */
static weir_status take_field(wx_samples *s, int64_t sample, const wx_field *f, float *block)
{
  const wx_info *c = &s->facts;
  const int64_t shift = f->depth * s->plane, of_y = c->n_channels[WX_Y] * c->cells;
  float *const x = block + shift, *const m = x + c->n_channels[WX_X] * c->cells + of_y;
  const int64_t own = s->opts->depth == WX_DEPTH_LEAD ? s->lead[f->depth] : s->of_lead[sample];
  int64_t start = s->of_start[sample], lead = f->lead == WX_OF_SAMPLE ? own : f->lead;

  if (f->truth) {
    const wx_archive_info *a = wx_archive_get(s->forecast);

    start = wx_archive_find_valid(wx_archive_get(s->truth), a->start[start]);
    lead = 0;
  }
  if (start < 0) { /* no analysis of that time */
    for (int64_t i = 0; i < s->plane; i++) {
      s->scratch[i] = NAN;
    }
  } else {
    WEIR_TRY(read_field(s, f->truth, start, lead, f->quantity, f->truth ? 0 : s->facts.first,
                        f->members, s->scratch));
  }
  WEIR_TRY(look_for_holes(s, sample, f, f->mask >= 0 ? x + f->mask * c->cells : NULL));
  if (f->one >= 0) {
    memcpy(x + f->one * c->cells, s->scratch, (size_t)s->plane * sizeof *x);
  }
  if (f->mean >= 0 || f->sd >= 0) {
    take_moments(s->scratch, f->members, s->plane, s->opts->ddof,
                 f->mean >= 0 ? x + f->mean * c->cells : NULL,
                 f->sd >= 0 ? x + f->sd * c->cells : NULL);
  }
  if (f->raw >= 0) {
    take_moments(s->scratch, f->members, s->plane, s->opts->ddof, m + f->raw * c->cells,
                 m + of_y + f->raw * c->cells);
    if (s->opts->each_member) {
      float *const e = block + c->n_channels[WX_X] * c->cells + 3 * of_y;
      const int64_t each = s->members * s->plane;

      memcpy(e + (f->raw * c->depth + f->depth) * each, s->scratch, (size_t)each * sizeof *e);
    }
  }
  return WEIR_OK;
}

/* y of target k at depth d, [plane]. */
static weir_status take_label(wx_samples *s, int64_t sample, int64_t k, int64_t d, float *y)
{
  const wx_archive_info *f = wx_archive_get(s->forecast);
  const int64_t number = k * s->facts.depth + d;
  const int64_t lead = s->opts->depth == WX_DEPTH_LEAD ? s->lead[d] : s->of_lead[sample];

  if (s->y && s->opts->label == WX_LABEL_SPREAD) {
    const int64_t n =
        s->opts->label_members > 0 ? s->opts->label_members : f->n_members - s->facts.first;

    WEIR_TRY(read_field(s, false, s->of_start[sample], lead, s->target[number], s->facts.first, n,
                        s->scratch));
    take_moments(s->scratch, n, s->plane, s->opts->ddof, NULL, y);
    return WEIR_OK;
  }
  const int64_t at =
      s->y ? wx_archive_find_truth(wx_archive_get(s->truth), f, s->of_start[sample], lead) : -1;

  for (int64_t i = 0; i < s->plane && at < 0; i++) {
    y[i] = NAN;
  }
  return at < 0 ? WEIR_OK : read_field(s, true, at, 0, s->truth_of[number], 0, 1, y);
}

static weir_status put_together(wx_samples *s, int64_t sample, float *block)
{
  const wx_info *c = &s->facts;
  float *const y = block + c->n_channels[WX_X] * c->cells;

  for (int64_t i = 0; i < s->n_fields; i++) {
    WEIR_TRY(take_field(s, sample, &s->field[i], block));
  }
  for (int64_t k = 0; k < c->n_channels[WX_Y]; k++) {
    for (int64_t d = 0; d < c->depth; d++) {
      WEIR_TRY(take_label(s, sample, k, d, y + k * c->cells + d * s->plane));
    }
  }
  wx_samples_plain(s, sample, block);
  return WEIR_OK;
}

weir_status wx_samples_read(wx_samples *s, int64_t sample, wx_sample *out)
{
  const wx_info *c = &s->facts;
  const int64_t of_x = c->n_channels[WX_X] * c->cells, of_y = c->n_channels[WX_Y] * c->cells;

  if (sample < 0 || sample >= c->n) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: there is no sample %lld", c->name, (long long)sample);
  }
  float *block = s->cached[sample];

  if (block == NULL) {
    WEIR_TRY(put_together(s, sample, s->sample));
    block = s->sample;
    if (s->n_cached < s->max_cached) {
      WEIR_TRY(weir_alloc(s->block, sizeof *block, (void **)&s->cached[sample]));
      block = memcpy(s->cached[sample], s->sample, (size_t)s->block * sizeof *block);
      s->n_cached++;
    }
  }
  const float *const y = block + of_x;

  *out = (wx_sample){.x = block, .y = y, .m = y + of_y, .s = y + 2 * of_y};
  out->e = s->opts->each_member ? y + 3 * of_y : NULL;
  return WEIR_OK;
}

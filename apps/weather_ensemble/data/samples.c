/* samples.c - see samples.h. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/samples_priv.h"

const char *const wx_side_name[WX_SIDES] = {"x", "y"};

static weir_status open_simulation(wx_samples *s, const wx_simulate_opts *o, uint64_t seed)
{
  static const wx_channel x[WX_SIM_X] = {
      [WX_SIM_FORECAST] = {"t", "K"},
      [WX_SIM_ANALYSIS] = {"t_start", "K"},
      [WX_SIM_HEIGHT] = {"height", "m"},
  };
  wx_facts *f = &s->facts;

  WEIR_TRY(wx_simulation_create(o, seed, &s->simulation));
  WEIR_TRY(weir_strdup("built-in simulation", &s->name));
  WEIR_TRY(weir_alloc(o->samples, sizeof *s->time, (void **)&s->time));
  WEIR_TRY(weir_alloc(o->lat, sizeof *s->axis[0], (void **)&s->axis[0]));
  WEIR_TRY(weir_alloc(o->lon, sizeof *s->axis[1], (void **)&s->axis[1]));
  for (int64_t i = 0; i < o->samples; i++) {
    s->time[i] = WX_SIM_BEGIN + wx_simulation_time(s->simulation, i);
  }
  for (int64_t j = 0; j < o->lat; j++) {
    s->axis[0][j] = wx_simulation_lat(s->simulation, j);
  }
  for (int64_t i = 0; i < o->lon; i++) {
    s->axis[1][i] = wx_simulation_lon(s->simulation, i);
  }
  *f = (wx_facts){
      .name = s->name,
      .n = o->samples,
      .rank = 2,
      .axis = {{"lat", o->lat, s->axis[0], "degrees_north"},
               {"lon", o->lon, s->axis[1], "degrees_east"}},
      .cells = o->lat * o->lon,
      .n_channels = {WX_SIM_X, 1},
      .channel = {x, x},
      .time = s->time,
  };
  return WEIR_OK;
}

weir_status wx_samples_open(const char *path, bool y, const wx_simulate_opts *simulate,
                            uint64_t seed, wx_samples **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_samples), &memory));
  wx_samples *s = memory;
  const weir_status status =
      path[0] == 0 ? open_simulation(s, simulate, seed) : wx_samples_open_file(s, path, y);

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
  wx_simulation_destroy(&(*s)->simulation);
  weir_netcdf_close(&(*s)->nc);
  weir_free(&(*s)->channel[WX_X]);
  weir_free(&(*s)->channel[WX_Y]);
  for (int d = 0; d < WX_SPACE; d++) {
    weir_free(&(*s)->axis[d]);
  }
  weir_free(&(*s)->time);
  weir_free(&(*s)->name);
  weir_free(&(*s)->row);
  weir_free(s);
}

const wx_facts *wx_samples_get(const wx_samples *s)
{
  return &s->facts;
}

/* Element e of a sample is missing or no number. */
static weir_status refuse(const wx_facts *f, wx_side side, int64_t sample, int64_t e, double value)
{
  int64_t index[WX_SPACE], rest = e % f->cells;
  char where[128] = "";
  size_t n = 0;

  for (int d = f->rank - 1; d >= 0; d--) {
    index[d] = rest % f->axis[d].length;
    rest /= f->axis[d].length;
  }
  for (int d = 0; d < f->rank; d++) {
    n += (size_t)snprintf(where + n, sizeof where - n, ", %s %lld", f->axis[d].name,
                          (long long)index[d]);
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: variable %s, sample %lld, channel %s%s (counted from 0): %g is no value; "
                   "fill it in or leave the sample out",
                   f->name, wx_side_name[side], (long long)sample,
                   f->channel[side][e / f->cells].name, where, value);
}

static bool is_missing(const wx_variable *v, double value)
{
  bool missing = !isfinite(value);

  for (int i = 0; i < v->n_missing; i++) {
    missing = missing || value == v->missing[i];
  }
  return missing;
}

static weir_status read_file(wx_samples *s, wx_side side, int64_t sample, float *out)
{
  const wx_facts *f = &s->facts;
  const wx_variable *v = &s->variable[side];
  int64_t start[2 + WX_SPACE] = {sample}, count[2 + WX_SPACE] = {1, f->n_channels[side]};

  for (int d = 0; d < f->rank; d++) {
    count[2 + d] = f->axis[d].length;
  }
  if (weir_netcdf_read(s->nc, v->var, start, count, s->row) != WEIR_OK) {
    char reason[512];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(WEIR_ERR_DATA,
                     "variable %s, sample %lld cannot be read (%s): the file is cut or damaged, "
                     "copy or make it again",
                     wx_side_name[side], (long long)sample, reason);
  }
  for (int64_t e = 0; e < f->n_channels[side] * f->cells; e++) {
    const double value = weir_dtype_load_real(v->dtype, s->row, e);

    if (is_missing(v, value) || !isfinite((float)value)) {
      return refuse(f, side, sample, e, value);
    }
    out[e] = (float)value;
  }
  return WEIR_OK;
}

weir_status wx_samples_read(wx_samples *s, wx_side side, int64_t sample, float *out)
{
  if (sample < 0 || sample >= s->facts.n || s->facts.n_channels[side] == 0) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: there is no sample %lld of %s", s->facts.name,
                     (long long)sample, wx_side_name[side]);
  }
  if (s->simulation == NULL) {
    return read_file(s, side, sample, out);
  }
  (side == WX_X ? wx_simulation_x : wx_simulation_y)(s->simulation, sample, out);
  return WEIR_OK;
}

weir_status wx_samples_pair(const wx_facts *f, int64_t y, int64_t *x)
{
  const wx_channel *truth = &f->channel[WX_Y][y];

  *x = -1;
  for (int64_t c = 0; c < f->n_channels[WX_X] && *x < 0; c++) {
    *x = strcmp(f->channel[WX_X][c].name, truth->name) == 0 ? c : -1;
  }
  if (*x >= 0 && strcmp(f->channel[WX_X][*x].units, truth->units) != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: channel %s is in '%s' in x and in '%s' in y: convert one of them",
                     f->name, truth->name, f->channel[WX_X][*x].units, truth->units);
  }
  return WEIR_OK;
}

/* simulate.c - see simulate.h. */
#include "data/simulate.h"
#include <complex.h>
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"

#define PI 3.14159265358979323846
#define HIGHEST 2000.0 /* m */
enum { MOST_WAVES = 256 };

const weir_opt wx_simulate_options[] = {
    WEIR_OPT_INT(wx_simulate_opts, samples, 400, 1, 1000000, "1", "samples, one after each step"),
    WEIR_OPT_INT(wx_simulate_opts, lat, 16, 1, 4096, "1", "rows of the grid"),
    WEIR_OPT_INT(wx_simulate_opts, lon, 32, 1, 4096, "1", "columns of the grid, a full circle"),
    WEIR_OPT_INT(wx_simulate_opts, waves, 6, 0, MOST_WAVES, "1",
                 "most waves along a circle of latitude"),
    WEIR_OPT_INT(wx_simulate_opts, modes, 4, 0, 256, "1", "most half waves across the rows"),
    WEIR_OPT_INT(wx_simulate_opts, lead, 2, 1, 1000, "steps", "how far the forecast reaches"),
    WEIR_OPT_REAL(wx_simulate_opts, step, 12, 0.01, 1e4, "h", "time between two starts"),
    WEIR_OPT_REAL(wx_simulate_opts, length, 28000, 1, 1e6, "km",
                  "circle of latitude (45 degrees north)"),
    WEIR_OPT_REAL(wx_simulate_opts, width, 9000, 1, 1e6, "km", "from the first row to the last"),
    WEIR_OPT_REAL(wx_simulate_opts, wind, 12, -200, 200, "m/s", "that carries the field east"),
    WEIR_OPT_REAL(wx_simulate_opts, diffusion, 2e5, 0, 1e9, "m2/s", "of the field"),
    WEIR_OPT_REAL(wx_simulate_opts, memory, 100, 0.01, 1e6, "d",
                  "in which what is left alone falls to 1/e"),
    WEIR_OPT_REAL(wx_simulate_opts, amplitude, 5, 0, 1e6, "K", "standard deviation of the field"),
    WEIR_OPT_REAL(wx_simulate_opts, slope, 1, 0, 20, "1",
                  "variance falls with (1 + k^2 + m^2)^-slope"),
    WEIR_OPT_REAL(wx_simulate_opts, error.wind, 8, -200, 200, "m/s",
                  "what the forecast's wind is too much"),
    WEIR_OPT_REAL(wx_simulate_opts, error.diffusion, 3, 0, 1000, "1",
                  "times the diffusion that the forecast has"),
    WEIR_OPT_REAL(wx_simulate_opts, error.analysis, 0.05, 0, 10, "1",
                  "error of the state that forecasts begin from, as a share of the field"),
    WEIR_OPT_REAL(wx_simulate_opts, error.noise, 0.2, 0, 1e6, "K",
                  "standard deviation of what the forecast adds at every point"),
    WEIR_OPT_REAL(wx_simulate_opts, error.mountain, 2, -1e6, 1e6, "K",
                  "bias of the forecast over the highest ground"),
    WEIR_OPT_REAL(wx_simulate_opts, error.offset, 0.5, -1e6, 1e6, "K",
                  "bias of the forecast everywhere"),
    WEIR_OPT_END,
};

enum { TRUTH = 0x77780001, ANALYSIS, NOISE }; /* purposes of random numbers */

struct wx_simulation {
  wx_simulate_opts o;
  uint64_t seed;
  int64_t n_waves;          /* of all, (waves + 1) (modes + 1) */
  double complex *state;    /* [samples + lead, n_waves]: the truth */
  double complex *analysis; /* [samples, n_waves]: what forecasts begin from */
  double complex *forecast; /* [samples, n_waves]: what they end with */
  double *size;             /* [n_waves]: standard deviation of a wave */
  double complex *east;     /* [waves + 1, lon] */
  double *north;            /* [modes + 1, lat] */
  double *height;           /* [lat, lon], m */
};

/* The standard deviations, scaled so that the field has the variance that is asked for. */
static void size_waves(wx_simulation *s)
{
  double variance = 0;

  for (int64_t w = 0; w < s->n_waves; w++) {
    const double k = (double)(w / (s->o.modes + 1)), m = (double)(w % (s->o.modes + 1));
    const double power = pow(1 + k * k + m * m, -s->o.slope);

    s->size[w] = sqrt(power);
    variance += power * (m > 0 ? 0.5 : 1); /* the mean of a cosine's square */
  }
  for (int64_t w = 0; w < s->n_waves; w++) {
    s->size[w] *= s->o.amplitude / sqrt(variance);
  }
}

/* exp(-(i omega + damping) time), time in s. */
static double complex factor(const wx_simulate_opts *o, int64_t w, double wind, double diffusion,
                             double time)
{
  const double k = 2 * PI * (double)(w / (o->modes + 1)) / (o->length * 1e3);
  const double m = PI * (double)(w % (o->modes + 1)) / (o->width * 1e3);
  const double damping = diffusion * (k * k + m * m) + 1 / (o->memory * 86400);

  return exp(-damping * time) * cexp(-I * k * wind * time);
}

static double complex draw(const wx_simulation *s, uint32_t purpose, int64_t step, int64_t w)
{
  const uint64_t i = 2 * (uint64_t)w;

  return s->size[w] * (weir_random_normal(s->seed, purpose, (uint32_t)step, i) +
                       I * weir_random_normal(s->seed, purpose, (uint32_t)step, i + 1));
}

static void run_truth(wx_simulation *s)
{
  const int64_t n = s->n_waves;

  for (int64_t w = 0; w < n; w++) {
    const double complex forward = factor(&s->o, w, s->o.wind, s->o.diffusion, s->o.step * 3600);
    const double kept = cabs(forward), stirred = sqrt(1 - kept * kept);

    s->state[w] = draw(s, TRUTH, 0, w);
    for (int64_t t = 1; t < s->o.samples + s->o.lead; t++) {
      s->state[t * n + w] = forward * s->state[(t - 1) * n + w] + stirred * draw(s, TRUTH, t, w);
    }
  }
}

static void run_forecasts(wx_simulation *s)
{
  const double lead = s->o.step * 3600 * (double)s->o.lead;
  const int64_t n = s->n_waves;

  for (int64_t w = 0; w < n; w++) {
    const double complex carried =
        factor(&s->o, w, s->o.wind + s->o.error.wind, s->o.diffusion * s->o.error.diffusion, lead);

    for (int64_t t = 0; t < s->o.samples; t++) {
      s->analysis[t * n + w] = s->state[t * n + w] + s->o.error.analysis * draw(s, ANALYSIS, t, w);
      s->forecast[t * n + w] = carried * s->analysis[t * n + w];
    }
  }
}

static void lay_grid(wx_simulation *s)
{
  for (int64_t k = 0; k <= s->o.waves; k++) {
    for (int64_t i = 0; i < s->o.lon; i++) {
      s->east[k * s->o.lon + i] = cexp(I * 2 * PI * (double)(k * i) / (double)s->o.lon);
    }
  }
  for (int64_t m = 0; m <= s->o.modes; m++) {
    for (int64_t j = 0; j < s->o.lat; j++) {
      s->north[m * s->o.lat + j] = cos(PI * (double)m * ((double)j + 0.5) / (double)s->o.lat);
    }
  }
  for (int64_t j = 0; j < s->o.lat; j++) {
    for (int64_t i = 0; i < s->o.lon; i++) {
      const double x = (double)i / (double)s->o.lon, y = ((double)j + 0.5) / (double)s->o.lat;
      const double one = exp(-(pow((x - 0.3) / 0.08, 2) + pow((y - 0.6) / 0.2, 2)) / 2);
      const double other = exp(-(pow((x - 0.7) / 0.12, 2) + pow((y - 0.4) / 0.15, 2)) / 2);

      s->height[j * s->o.lon + i] = HIGHEST * fmin(1, one + 0.6 * other);
    }
  }
}

static weir_status take_room(wx_simulation *s)
{
  const wx_simulate_opts *o = &s->o;
  const int64_t n = s->n_waves;
  int64_t states = 0;

  if (!weir_mul_ok(o->samples + o->lead, n, &states)) {
    return weir_fail(WEIR_ERR_MEMORY, "simulate: %lld samples of %lld waves are too many",
                     (long long)o->samples, (long long)n);
  }
  WEIR_TRY(weir_alloc(states, sizeof *s->state, (void **)&s->state));
  WEIR_TRY(weir_alloc(o->samples * n, sizeof *s->analysis, (void **)&s->analysis));
  WEIR_TRY(weir_alloc(o->samples * n, sizeof *s->forecast, (void **)&s->forecast));
  WEIR_TRY(weir_alloc(n, sizeof *s->size, (void **)&s->size));
  WEIR_TRY(weir_alloc((o->waves + 1) * o->lon, sizeof *s->east, (void **)&s->east));
  WEIR_TRY(weir_alloc((o->modes + 1) * o->lat, sizeof *s->north, (void **)&s->north));
  return weir_alloc(o->lat * o->lon, sizeof *s->height, (void **)&s->height);
}

weir_status wx_simulation_create(const wx_simulate_opts *opts, uint64_t seed, wx_simulation **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_simulation), &memory));
  wx_simulation *s = memory;

  s->o = *opts;
  s->seed = seed;
  s->n_waves = (opts->waves + 1) * (opts->modes + 1);
  const weir_status status = take_room(s);

  if (status != WEIR_OK) {
    wx_simulation_destroy(&s);
    return status;
  }
  size_waves(s);
  lay_grid(s);
  run_truth(s);
  run_forecasts(s);
  *out = s;
  return WEIR_OK;
}

void wx_simulation_destroy(wx_simulation **s)
{
  if (*s == NULL) {
    return;
  }
  weir_free(&(*s)->state);
  weir_free(&(*s)->analysis);
  weir_free(&(*s)->forecast);
  weir_free(&(*s)->size);
  weir_free(&(*s)->east);
  weir_free(&(*s)->north);
  weir_free(&(*s)->height);
  weir_free(s);
}

double wx_simulation_time(const wx_simulation *s, int64_t sample)
{
  return (double)(sample + s->o.lead) * s->o.step / 24;
}

double wx_simulation_lat(const wx_simulation *s, int64_t j)
{
  const double degrees = s->o.width / 20000 * 180; /* a meridian has 20,000 km */

  return 45 + degrees * (((double)j + 0.5) / (double)s->o.lat - 0.5);
}

double wx_simulation_lon(const wx_simulation *s, int64_t i)
{
  return 360 * (double)i / (double)s->o.lon;
}

/* The field of waves a[n_waves]. */
static void add_up(const wx_simulation *s, const double complex *a, float *out)
{
  double complex row[MOST_WAVES + 1];

  for (int64_t j = 0; j < s->o.lat; j++) {
    for (int64_t k = 0; k <= s->o.waves; k++) {
      row[k] = 0;
      for (int64_t m = 0; m <= s->o.modes; m++) {
        row[k] += a[k * (s->o.modes + 1) + m] * s->north[m * s->o.lat + j];
      }
    }
    for (int64_t i = 0; i < s->o.lon; i++) {
      double sum = 0;

      for (int64_t k = 0; k <= s->o.waves; k++) {
        sum += creal(row[k] * s->east[k * s->o.lon + i]);
      }
      out[j * s->o.lon + i] = (float)sum;
    }
  }
}

void wx_simulation_y(const wx_simulation *s, int64_t sample, float *out)
{
  add_up(s, s->state + (sample + s->o.lead) * s->n_waves, out);
}

void wx_simulation_x(const wx_simulation *s, int64_t sample, float *out)
{
  const int64_t cells = s->o.lat * s->o.lon;
  float *const forecast = out + WX_SIM_FORECAST * cells;

  add_up(s, s->forecast + sample * s->n_waves, forecast);
  add_up(s, s->analysis + sample * s->n_waves, out + WX_SIM_ANALYSIS * cells);
  for (int64_t c = 0; c < cells; c++) {
    const double bias = s->o.error.offset + s->o.error.mountain * s->height[c] / HIGHEST;
    const double noise = weir_random_normal(s->seed, NOISE, (uint32_t)sample, (uint64_t)c);

    forecast[c] += (float)(bias + s->o.error.noise * noise);
    out[WX_SIM_HEIGHT * cells + c] = (float)s->height[c];
  }
}

/* match_shape.c - dynamic time warping in a band, after the lower bounds that skip most of it. */
#include <math.h>
#include "stream/op/match_shape/weir_stream_match_shape.h"
#include "stream/weir_gap.h"

struct match_shape_opts {
  weir_real_list shape;
  double band, threshold;
};

static const weir_opt options[] = {
    WEIR_OPT_REAL_LIST(struct match_shape_opts, shape, "1, 0, 0, 0, 0, 0, 0, 1", -1e30, 1e30, "1",
                       "template, 4 to 4096 samples at the stream's rate; offset and scale are "
                       "ignored; or {file: PATH}. Default: a pressure that drops and recovers"),
    WEIR_OPT_REAL(
        struct match_shape_opts, band, 0.1, 0, 1, "1",
        "maximum warping between stream and template, as a fraction of the template length"),
    WEIR_OPT_REAL(struct match_shape_opts, threshold, 0.05, 0, 1e3, "1",
                  "maximum distance of a match, sqrt(D) / samples"),
    WEIR_OPT_END,
};

/* Rows of the constant that holds the template: itself, and its envelope within the band. */
enum { SHAPE, UPPER, LOWER, ROWS };

/* One comparison: everything has m elements, limit is the largest D of a match. */
typedef struct warp {
  const double *shape, *upper, *lower;
  int64_t m, band;
  double limit;
} warp;

static void normalise(double *z, int64_t m)
{
  double mean = 0, square = 0;

  for (int64_t i = 0; i < m; i++) {
    mean += z[i];
  }
  mean /= (double)m;
  for (int64_t i = 0; i < m; i++) {
    z[i] -= mean;
    square += z[i] * z[i];
  }
  const double std = sqrt(square / (double)m);

  for (int64_t i = 0; i < m; i++) {
    z[i] = std > 0 ? z[i] / std : 0;
  }
}

static double squared(double x)
{
  return x * x;
}

/* Whether a bound that is cheaper than D exceeds the limit. */
static bool is_excluded(const warp *w, const double *z)
{
  const int64_t last = w->m - 1;
  double sum = squared(z[0] - w->shape[0]) + squared(z[last] - w->shape[last]); /* LB_Kim */

  if (sum > w->limit) {
    return true;
  }
  sum = 0;
  for (int64_t i = 0; i < w->m && sum <= w->limit; i++) { /* LB_Keogh */
    sum += squared(fmax(fmax(z[i] - w->upper[i], w->lower[i] - z[i]), 0));
  }
  return sum > w->limit;
}

/* D(m, m), or infinity once a whole row exceeds the limit: every path crosses every row. */
static double distance(const warp *w, const double *z)
{
  double row[2][WEIR_SHAPE_MAX + 1];

  for (int64_t j = 0; j <= w->m; j++) {
    row[0][j] = row[1][j] = INFINITY;
  }
  row[0][0] = 0;
  for (int64_t i = 1; i <= w->m; i++) {
    const double *above = row[(i - 1) & 1];
    double *here = row[i & 1], row_min = INFINITY;
    const int64_t lo = i > w->band ? i - w->band : 1, hi = i + w->band < w->m ? i + w->band : w->m;

    here[lo - 1] = INFINITY;
    for (int64_t j = lo; j <= hi; j++) {
      here[j] =
          squared(z[i - 1] - w->shape[j - 1]) + fmin(fmin(above[j], here[j - 1]), above[j - 1]);
      row_min = fmin(row_min, here[j]);
    }
    if (hi < w->m) {
      here[hi + 1] = INFINITY;
    }
    if (row_min > w->limit) {
      return INFINITY;
    }
  }
  return row[w->m & 1][w->m];
}

/* The distance of the window that begins at x, or infinity beyond the threshold. */
static double match(const warp *w, const float *x)
{
  double z[WEIR_SHAPE_MAX];

  for (int64_t i = 0; i < w->m; i++) {
    z[i] = (double)x[i];
  }
  normalise(z, w->m);
  const double d = is_excluded(w, z) ? INFINITY : distance(w, z);

  return d <= w->limit ? sqrt(d) / (double)w->m : INFINITY;
}

static weir_status find_matches(void *context, const weir_op_run *run)
{
  const int64_t m = ((const weir_call_spec *)run->spec)->behind[0] + 1;
  const double *rows = run->in[2].data;
  const warp w = {rows + SHAPE * m,
                  rows + UPPER * m,
                  rows + LOWER * m,
                  m,
                  *(const int64_t *)run->in[3].data,
                  *(const double *)run->in[4].data};
  const int64_t lo = run->box.lo[0], hi = run->box.hi[0];
  int64_t present = 0; /* slots in a row that end at t, as far as they count */

  (void)context;
  for (int64_t t = lo - m + 1 > 0 ? lo - m + 1 : 0; t < hi; t++) {
    present = *weir_gap_flag(&run->in[1], t) != 0 ? present + 1 : 0;
    if (t >= lo) {
      const double d =
          present >= m ? match(&w, weir_gap_value(&run->in[0], t - m + 1)) : (double)INFINITY;

      *weir_gap_value(&run->out[0], t) = d < (double)INFINITY ? (float)d : 0;
      *weir_gap_flag(&run->out[1], t) = d < (double)INFINITY;
    }
  }
  return WEIR_OK;
}

/* The constant [ROWS, m] of a template. */
static weir_status make_rows(weir_graph *g, const double *shape, int64_t m, int64_t band,
                             weir_value *out)
{
  weir_tensor t;
  double square = 0;

  if (m < WEIR_SHAPE_MIN || m > WEIR_SHAPE_MAX) {
    return weir_fail(WEIR_ERR_CONFIG, "shape: %lld samples: %d to %d are allowed", (long long)m,
                     WEIR_SHAPE_MIN, WEIR_SHAPE_MAX);
  }
  WEIR_TRY(weir_tensor_init(&t, WEIR_F64, 2, (const int64_t[]){ROWS, m}));
  double *row = t.data;

  memcpy(row, shape, (size_t)m * sizeof *row);
  normalise(row, m);
  for (int64_t i = 0; i < m; i++) {
    double upper = -INFINITY, lower = INFINITY;

    for (int64_t j = i > band ? i - band : 0; j <= i + band && j < m; j++) {
      upper = fmax(upper, row[j]);
      lower = fmin(lower, row[j]);
    }
    row[UPPER * m + i] = upper;
    row[LOWER * m + i] = lower;
    square += row[i] * row[i];
  }
  *out = weir_constant(g, &t);
  weir_tensor_fini(&t);
  if (!(square > 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "shape: all samples of the template are equal, or some are not finite");
  }
  return WEIR_OK;
}

weir_series weir_stream_match_shape(weir_graph *g, weir_series s, const double *shape, int64_t m,
                                    double band, double threshold)
{
  const int64_t reach = (int64_t)ceil(band * (double)m);
  weir_call_spec spec = weir_gap_call("match_shape", find_matches);
  weir_value rows = WEIR_NO_VALUE;
  const weir_status status = make_rows(g, shape, m, reach, &rows);

  if (status != WEIR_OK) {
    s.value = weir_graph_fail(g, status);
    return s;
  }
  const double limit = (threshold * (double)m) * (threshold * (double)m);
  const weir_value in[] = {s.value, s.present, rows, weir_scalar(g, WEIR_I64, (double)reach),
                           weir_scalar(g, WEIR_F64, limit)};

  spec.behind[0] = spec.behind[1] = m - 1;
  spec.flops = 10 * (double)m;
  s = weir_gap_made(g, &spec, s, in, 5);
  weir_series_set_unit(&s, "1");
  return s;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const struct match_shape_opts *o = use->opts;

  out->out[0] = weir_stream_match_shape(use->graph, use->in[0], o->shape.items, o->shape.count,
                                        o->band, o->threshold);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_match_shape = {
    .name = "match_shape",
    .cite = "Sakoe and Chiba 1978; Keogh and Ratanamahatana 2005",
    .help = "template matching by dynamic time warping: present where the last samples match; the "
            "value is the distance",
    .opts = options,
    .opts_size = sizeof(struct match_shape_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};

/* conservative.c - weights by the areas that boxes of latitude and longitude have in common. */
#include <math.h>
#include "base/weir_alloc.h"
#include "data/regrid/regrid_priv.h"

#define DEGREE (3.14159265358979323846 / 180)

/* Of a target: boxes whose edges coincide overlap by rounding. */
static const double sliver = 1e-11;

/* A target box. */
typedef struct box {
  double west, east;
  double area; /* difference of the sines of its edges */
} box;

/* Adds the cells of row j that overlap [west, east] moved by `shift` degrees; `band`: the
 * difference of sines that target and row have in common. edge: of the row. */
static weir_status add_turn(const wx_rows *r, int64_t j, const double *edge, const box *to,
                            double shift, double band, wx_weights *w)
{
  const double west = to->west + shift, east = to->east + shift;
  int64_t lo = 0, hi = r->begin[j + 1] - r->begin[j];
  const int64_t n = hi;

  if (east <= edge[0] || west >= edge[n]) {
    return WEIR_OK;
  }
  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (edge[middle] <= west) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  for (int64_t i = lo; i < n && edge[i] < east; i++) {
    const double width = fmin(edge[i + 1], east) - fmax(edge[i], west);
    const double weight = width * band / ((to->east - to->west) * to->area);

    if (weight > sliver) {
      WEIR_TRY(wx_weights_add(w, r->cell[r->begin[j] + i], weight));
    }
  }
  return WEIR_OK;
}

/* The first row that reaches below a latitude. */
static int64_t first_below(const wx_rows *r, double lat)
{
  int64_t lo = 0, hi = r->n;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (r->edge[1][middle] < lat) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
  return lo;
}

static weir_status add_target(const wx_rows *r, const double *edge, const box *to, double upper,
                              double lower, wx_weights *w)
{
  for (int64_t j = first_below(r, upper); j < r->n && r->edge[0][j] > lower; j++) {
    const double top = fmin(upper, r->edge[0][j]), bottom = fmax(lower, r->edge[1][j]);
    const double *const own = edge + r->begin[j] + j;

    if (top <= bottom) {
      continue;
    }
    const double band = sin(top * DEGREE) - sin(bottom * DEGREE);
    const double first = 360 * floor((own[0] - to->west) / 360);

    for (int turn = 0; turn < 2; turn++) {
      WEIR_TRY(add_turn(r, j, own, to, first + 360 * turn, band, w));
    }
  }
  return WEIR_OK;
}

static weir_status check(const wx_rows *r, const char *which)
{
  for (int64_t j = 0; j < r->n; j++) {
    if (r->n < 2 || r->begin[j + 1] - r->begin[j] < 2) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "import.regrid.method: conservative: the %s has a single row, or a row of a "
                       "single cell, whose size is not known: take bilinear",
                       which);
    }
  }
  return r->rotated ? weir_fail(WEIR_ERR_UNSUPPORTED,
                                "import.regrid.method: conservative: the %s is rotated: its cells "
                                "are no boxes of latitude and longitude: take bilinear, or weights "
                                "of another program",
                                which)
                    : WEIR_OK;
}

/* Edges of all rows, [cells + rows], those of row j from begin[j] + j on. */
static weir_status take_edges(const wx_rows *r, double **out)
{
  WEIR_TRY(weir_alloc(r->begin[r->n] + r->n, sizeof **out, (void **)out));
  for (int64_t j = 0; j < r->n; j++) {
    wx_rows_edges(r, j, *out + r->begin[j] + j);
  }
  return WEIR_OK;
}

/* The box of a target at a place of row j. */
static box box_of(const wx_rows *r, const double *edge, int64_t j, int64_t place)
{
  const double *const own = edge + place + j;

  return (box){own[0], own[1], sin(r->edge[0][j] * DEGREE) - sin(r->edge[1][j] * DEGREE)};
}

weir_status wx_regrid_conservative(const wx_rows *from, const wx_grid *to, wx_weights *out)
{
  wx_rows rows = {.n = 0};
  double *edge[2] = {NULL, NULL};
  int64_t *place = NULL; /* [cells] of a target's cell in its rows, which may begin elsewhere */
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(wx_rows_make(to, &rows), done);
  WEIR_TRY_GOTO(check(from, "source"), done);
  WEIR_TRY_GOTO(check(&rows, "target"), done);
  WEIR_TRY_GOTO(take_edges(from, &edge[0]), done);
  WEIR_TRY_GOTO(take_edges(&rows, &edge[1]), done);
  WEIR_TRY_GOTO(weir_alloc(wx_grid_cells(to), sizeof *place, (void **)&place), done);
  for (int64_t e = 0; e < wx_grid_cells(to); e++) {
    place[rows.cell[e]] = e;
  }
  for (int64_t t = 0; t < wx_grid_cells(to); t++) {
    const int64_t j = t / to->n_lon;
    const box b = box_of(&rows, edge[1], j, place[t]);

    WEIR_TRY_GOTO(add_target(from, edge[0], &b, rows.edge[0][j], rows.edge[1][j], out), done);
    wx_weights_end_row(out);
  }
done:
  weir_free(&place);
  weir_free(&edge[0]);
  weir_free(&edge[1]);
  wx_rows_fini(&rows);
  return status;
}

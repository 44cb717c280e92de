/* map.c - the SVG and CSV text of a map. */
#include "report/weir_map.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "conf/weir_number.h"
#include "report/report_priv.h"

enum {
  MAX_COLUMNS = 180,
  MAX_ROWS = 120,
  CLASSES = 17, /* distinct colours; odd: one is around 0 */
  LEFT = 84,
  ACROSS = 560, /* of the field */
  MIN_UP = 120,
  MAX_UP = 420,
  TOP = 30,
  BOTTOM = 44,
  SCALE = 14, /* width of the scale of colours */
  GAP = 16,
  RIGHT = 76
};

/* Colours at equal distances, between which others lie. Sequential: light to dark, readable in
 * grey; diverging: after Brewer's PuOr, readable with any colour vision. */
enum { STOPS = 5 };
static const unsigned char sequential[STOPS][3] = {
    {255, 250, 205}, {253, 190, 80}, {225, 100, 60}, {150, 30, 90}, {50, 5, 70}};
static const unsigned char diverging[STOPS][3] = {
    {60, 20, 120}, {150, 140, 195}, {247, 247, 247}, {240, 165, 65}, {150, 70, 5}};

/* The drawn map: means of rectangles, y from above downwards. */
typedef struct drawn {
  int64_t rows, columns;
  double *value, *x, *y; /* [rows, columns], [columns], [rows] */
  double lo, hi;
  int up; /* height of the field */
} drawn;

static void fini(drawn *d)
{
  weir_free(&d->value);
  weir_free(&d->x);
  weir_free(&d->y);
}

static double middle(const double *at, int64_t lo, int64_t hi)
{
  double sum = 0;

  for (int64_t i = lo; i < hi; i++) {
    sum += at != NULL ? at[i] : (double)i;
  }
  return sum / (double)(hi - lo);
}

static double mean_of(const weir_map *m, int64_t top, int64_t bottom, int64_t left, int64_t right)
{
  double sum = 0, n = 0;

  for (int64_t j = top; j < bottom; j++) {
    for (int64_t i = left; i < right; i++) {
      const double v = m->value[j * m->columns + i];

      sum += isfinite(v) ? v : 0;
      n += isfinite(v) != 0;
    }
  }
  return n > 0 ? sum / n : NAN;
}

static void find_range(const weir_map *m, drawn *d)
{
  double lo = INFINITY, hi = -INFINITY;

  for (int64_t i = 0; i < d->rows * d->columns; i++) {
    lo = fmin(lo, d->value[i]); /* of NaN and a number it is the number */
    hi = fmax(hi, d->value[i]);
  }
  if (m->lo < m->hi) {
    lo = m->lo;
    hi = m->hi;
  } else if (!(lo <= hi)) {
    lo = 0;
    hi = 1;
  } else if (m->diverging) {
    hi = fmax(fabs(lo), fabs(hi));
    lo = -hi;
  }
  if (!(hi - lo > 1e-12 * fmax(fabs(lo), fabs(hi)))) {
    const double half = lo == 0 ? 0.5 : 0.05 * fabs(lo);

    lo -= half;
    hi += half;
  }
  d->lo = lo;
  d->hi = hi;
}

/* Height to width as the coordinates have it, within limits. */
static int height_of(const drawn *d)
{
  const double x = d->columns > 1 ? fabs(d->x[d->columns - 1] - d->x[0]) /
                                        (double)(d->columns - 1) * (double)d->columns
                                  : 1;
  const double y =
      d->rows > 1 ? fabs(d->y[d->rows - 1] - d->y[0]) / (double)(d->rows - 1) * (double)d->rows : 1;
  const double up = ACROSS * y / x;

  return up >= MAX_UP ? MAX_UP : up > MIN_UP ? (int)up : MIN_UP;
}

static weir_status draw(const weir_map *m, drawn *d)
{
  weir_status status = WEIR_OK;

  *d = (drawn){.rows = 0};
  if (m->rows < 1 || m->columns < 1 || m->value == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "map %s: it has no values", m->title);
  }
  const int64_t tall = (m->rows + MAX_ROWS - 1) / MAX_ROWS;
  const int64_t wide = (m->columns + MAX_COLUMNS - 1) / MAX_COLUMNS;
  const bool down = m->y != NULL && m->rows > 1 && m->y[0] > m->y[m->rows - 1];

  d->rows = (m->rows + tall - 1) / tall;
  d->columns = (m->columns + wide - 1) / wide;
  WEIR_TRY_GOTO(weir_alloc(d->rows * d->columns, sizeof(double), (void **)&d->value), done);
  WEIR_TRY_GOTO(weir_alloc(d->columns, sizeof(double), (void **)&d->x), done);
  WEIR_TRY_GOTO(weir_alloc(d->rows, sizeof(double), (void **)&d->y), done);
  for (int64_t i = 0; i < d->columns; i++) {
    d->x[i] = middle(m->x, i * wide, i * wide + wide < m->columns ? i * wide + wide : m->columns);
  }
  for (int64_t j = 0; j < d->rows; j++) {
    const int64_t at = down ? j : d->rows - 1 - j, top = at * tall;
    const int64_t bottom = top + tall < m->rows ? top + tall : m->rows;

    d->y[j] = middle(m->y, top, bottom);
    for (int64_t i = 0; i < d->columns; i++) {
      const int64_t right = i * wide + wide < m->columns ? i * wide + wide : m->columns;

      d->value[j * d->columns + i] = mean_of(m, top, bottom, i * wide, right);
    }
  }
  find_range(m, d);
  d->up = height_of(d);
done:
  if (status != WEIR_OK) {
    fini(d);
  }
  return status;
}

/* Class of a value, -1: none. */
static int class_of(const drawn *d, double v)
{
  const int k = (int)floor((v - d->lo) / (d->hi - d->lo) * CLASSES);

  return !isfinite(v) ? -1 : v <= d->lo ? 0 : v >= d->hi || k >= CLASSES ? CLASSES - 1 : k;
}

static void put_color(FILE *out, const weir_map *m, int k)
{
  const double at = (double)k / (CLASSES - 1) * (STOPS - 1);
  const int i = at >= STOPS - 1 ? STOPS - 2 : (int)at;

  fputs("fill=\"#", out);
  for (int c = 0; c < 3; c++) {
    const unsigned char *const a = m->diverging ? diverging[i] : sequential[i];
    const unsigned char *const b = m->diverging ? diverging[i + 1] : sequential[i + 1];

    fprintf(out, "%02x", (unsigned)lround(a[c] + (at - i) * (b[c] - a[c])));
  }
  fputs("\"/>\n", out);
}

/* Cells of one colour as one path, those side by side as one rectangle. */
static void put_class(FILE *out, const weir_map *m, const drawn *d, int k)
{
  const double dx = (double)ACROSS / (double)d->columns, dy = (double)d->up / (double)d->rows;
  bool any = false;

  for (int64_t j = 0; j < d->rows; j++) {
    for (int64_t i = 0; i < d->columns; i++) {
      int64_t end = i;

      while (end < d->columns && class_of(d, d->value[j * d->columns + end]) == k) {
        end++;
      }
      if (end == i) {
        continue;
      }
      fputs(any ? "" : "<path d=\"", out);
      fprintf(out, "M%.1f %.1fH%.1fV%.1fH%.1fZ", LEFT + (double)i * dx, TOP + (double)j * dy,
              LEFT + (double)end * dx, TOP + (double)(j + 1) * dy, LEFT + (double)i * dx);
      any = true;
      i = end;
    }
  }
  if (any) {
    fputs("\" shape-rendering=\"crispEdges\" ", out);
    put_color(out, m, k);
  }
}

static void put_text(FILE *out, double x, double y, const char *how, const char *text)
{
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
  report_put_typeset(out, text, false);
  fputs("</text>\n", out);
}

/* Where a coordinate lies among the middles of n cells, as a share of their extent. */
static double share_of(const double *at, int64_t n, double value)
{
  const bool down = at[0] > at[n - 1];
  int64_t i = 0;

  while (i + 2 < n && (down ? at[i + 1] > value : at[i + 1] < value)) {
    i++;
  }
  const double fraction = n > 1 ? (value - at[i]) / (at[i + 1] - at[i]) : 0;

  return ((double)i + fraction + 0.5) / (double)n;
}

/* Steps that charts have: parts of a circle. */
static void round_degrees(report_axis *a)
{
  static const double steps[] = {1, 2, 5, 10, 15, 20, 30, 45, 60, 90};
  const double wanted = (a->hi - a->lo) / 7;

  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && wanted > 0.5; i++) {
    a->step = steps[i];
    if (steps[i] >= wanted) {
      return;
    }
  }
}

/* Round numbers along the x axis or the y axis, from edge to edge; a single cell has its own. */
static void put_ticks(FILE *out, const weir_map *m, const drawn *d, bool is_x)
{
  const int64_t n = is_x ? d->columns : d->rows;
  const double *at = is_x ? d->x : d->y;
  const double first = n > 1 ? at[0] - (at[1] - at[0]) / 2 : at[0];
  const double last = n > 1 ? at[n - 1] + (at[n - 1] - at[n - 2]) / 2 : at[0];
  report_axis a = {.lo = fmin(first, last), .hi = fmax(first, last)};

  if (n > 1) {
    report_round(&a, is_x ? 7 : 5, false);
  } else {
    a.step = at[0] != 0 ? fabs(at[0]) : 1;
  }
  if (m->degrees && n > 1) {
    round_degrees(&a);
  }
  const int power = report_tick_power(&a);

  if (power != 0) {
    char text[32];

    (void)snprintf(text, sizeof text, "1e%d", power);
    put_text(out, is_x ? LEFT + ACROSS : LEFT - 5, is_x ? TOP + d->up + 34 : TOP - 8,
             "text-anchor=\"end\"", text);
  }
  for (double k = ceil(a.lo / a.step - 1e-9); k * a.step <= a.hi + 1e-9 * a.step; k++) {
    const double share = share_of(at, n, k * a.step);
    char text[32];

    report_tick_text(&a, k, power, text, sizeof text);
    if (is_x) {
      put_text(out, LEFT + share * ACROSS, TOP + d->up + 17, "text-anchor=\"middle\"", text);
    } else {
      put_text(out, LEFT - 8, TOP + share * d->up + 4, "text-anchor=\"end\"", text);
    }
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\"/>\n",
            is_x ? LEFT + share * ACROSS : LEFT - 4, is_x ? TOP + d->up : TOP + share * d->up,
            is_x ? LEFT + share * ACROSS : LEFT, is_x ? TOP + d->up + 4 : TOP + share * d->up);
  }
}

/* Where a coordinate is among cells that may begin at any meridian; false: outside. */
static bool find_share(const double *at, int64_t n, double value, double *share)
{
  const double step = fabs(at[n - 1] - at[0]) / (double)(n - 1) / 2;
  const double lo = fmin(at[0], at[n - 1]) - step, hi = fmax(at[0], at[n - 1]) + step;

  while (value < lo && value + 360 <= hi) {
    value += 360;
  }
  while (value > hi && value - 360 >= lo) {
    value -= 360;
  }
  *share = share_of(at, n, value);
  return value >= lo && value <= hi;
}

/* Coasts of the world, broken at the edges of the field. */
static void put_coast(FILE *out, const drawn *d)
{
  int size = 0;
  const int16_t *const p = report_coast(&size);
  double last = 0;

  if (d->rows < 2 || d->columns < 2) {
    return;
  }
  fputs("<path d=\"", out);
  for (int i = 0; i < size; i += 1 + 2 * p[i]) {
    bool down = false;

    for (int k = 0; k < p[i]; k++) {
      const double lon = p[i + 1 + 2 * k] / 100.0, lat = p[i + 2 + 2 * k] / 100.0;
      double x = 0, y = 0;
      const bool in = find_share(d->x, d->columns, lon, &x) && find_share(d->y, d->rows, lat, &y);

      /* Not across the map, where it continues at the other edge. */
      if (in) {
        fprintf(out, "%c%.1f %.1f", down && fabs(x - last) < 0.5 ? 'L' : 'M', LEFT + x * ACROSS,
                TOP + y * d->up);
      }
      down = in;
      last = x;
    }
  }
  fputs("\" fill=\"none\" stroke=\"#000\" stroke-opacity=\"0.6\" stroke-width=\"0.7\"/>\n", out);
}

static void put_axes(FILE *out, const weir_map *m, const drawn *d)
{
  fprintf(out,
          "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
          "stroke=\"currentColor\"/>\n",
          LEFT, TOP, ACROSS, d->up);
  put_ticks(out, m, d, true);
  put_ticks(out, m, d, false);
  put_text(out, LEFT + ACROSS / 2.0, 18, "text-anchor=\"middle\" font-weight=\"bold\"", m->title);
  put_text(out, LEFT + ACROSS / 2.0, TOP + d->up + 34, "text-anchor=\"middle\"", m->x_label);
  fprintf(out, "<g transform=\"translate(14 %d) rotate(-90)\">", TOP + d->up / 2);
  put_text(out, 0, 0, "text-anchor=\"middle\"", m->y_label);
  fputs("</g>\n", out);
}

static void put_scale(FILE *out, const weir_map *m, const drawn *d)
{
  const double x = LEFT + ACROSS + GAP;
  report_axis a = {.lo = d->lo, .hi = d->hi};

  for (int k = 0; k < CLASSES; k++) {
    const double step = (double)d->up / CLASSES;

    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" shape-rendering="
            "\"crispEdges\" ",
            x, TOP + d->up - (k + 1) * step, SCALE, step);
    put_color(out, m, k);
  }
  report_round(&a, 5, false);
  const int power = report_tick_power(&a);
  char text[32];

  for (double k = ceil(a.lo / a.step - 1e-9); k * a.step <= a.hi + 1e-9 * a.step; k++) {
    const double share = (k * a.step - d->lo) / (d->hi - d->lo);

    report_tick_text(&a, k, power, text, sizeof text);
    put_text(out, x + SCALE + 4, TOP + d->up * (1 - share) + 4, "", text);
  }
  if (power != 0) {
    (void)snprintf(text, sizeof text, "1e%d", power);
    put_text(out, x, TOP - 8, "", text);
  }
  put_text(out, x + SCALE, TOP + d->up + 34, "text-anchor=\"middle\"", m->unit);
}

weir_status weir_map_svg(const weir_map *map, FILE *out)
{
  const int width = LEFT + ACROSS + GAP + SCALE + RIGHT;
  drawn d;

  WEIR_TRY(draw(map, &d));
  report_put_svg(out, width, TOP + d.up + BOTTOM, map->title);
  for (int k = 0; k < CLASSES; k++) {
    put_class(out, map, &d, k);
  }
  if (map->degrees) {
    put_coast(out, &d);
  }
  put_axes(out, map, &d);
  put_scale(out, map, &d);
  fputs("</svg>\n", out);
  fini(&d);
  return ferror(out) ? weir_fail(WEIR_ERR_DATA, "map %s: the file cannot be written", map->title)
                     : WEIR_OK;
}

weir_status weir_map_csv(const weir_map *map, FILE *out)
{
  drawn d;

  WEIR_TRY(draw(map, &d));
  fputs("x,y,value\n", out);
  for (int64_t j = 0; j < d.rows; j++) {
    for (int64_t i = 0; i < d.columns; i++) {
      const double number[] = {d.x[i], d.y[j], d.value[j * d.columns + i]};

      for (int k = 0; k < 3; k++) {
        char text[32] = "";

        if (!isnan(number[k])) {
          weir_number_text(number[k], text, sizeof text);
        }
        fprintf(out, k < 2 ? "%s," : "%s\n", text);
      }
    }
  }
  fini(&d);
  return ferror(out) ? weir_fail(WEIR_ERR_DATA, "map %s: the file cannot be written", map->title)
                     : WEIR_OK;
}

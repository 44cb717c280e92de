/* structure.c - the SVG and CSV text of a structure. */
#include "report/weir_structure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "conf/weir_number.h"
#include "report/report_priv.h"

enum {
  WIDTH = 760,
  LEFT = 70,
  RIGHT = 70,
  ACROSS = WIDTH - LEFT - RIGHT,
  MAX_UP = 320,
  TOP = 40,
  LEGEND_ROW = 16,
  BOTTOM = 56,
  AWAY = 14,    /* of the axes from the structure                 */
  GAP = 40,     /* instead of the middle that is left out         */
  MIN_BOND = 4, /* pixels */
  MAX_BOND = 56,
  LAYERS = 12 /* of depth; farther ones are paler */
};

/* What z towards the reader moves a point to the left and down. */
static const double slope[2] = {0.38, 0.26};

/* The drawing and its position. */
typedef struct drawn {
  const weir_structure *s;
  int64_t n, *point;     /* [n] points that are drawn               */
  bool *is_drawn;        /* [n_points]                              */
  double lo[3], hi[3];   /* of all points                           */
  double omitted[2];     /* x between them is left out, where omitted[0] < omitted[1] */
  double bond;           /* length of the shortest; 0: there is none */
  int64_t stride;        /* of `stride` points of an end one is drawn */
  double scale;          /* pixels of a unit                        */
  double left, bottom;   /* pixels of (lo[0], lo[1], lo[2])         */
  int width, height, up; /* pixels; up: of the structure            */
  FILE *out;
} drawn;

static void fini(drawn *d)
{
  weir_free(&d->point);
  weir_free(&d->is_drawn);
}

static weir_status check(const weir_structure *s)
{
  if (s->n_points < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "structure %s: it has no points", s->title);
  }
  for (int64_t i = 0; i < s->n_points; i++) {
    const double *p = s->position[i];

    if (s->kind[i] < 0 || s->kind[i] >= s->n_kinds || !isfinite(p[0] + p[1] + p[2])) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "structure %s: point %lld has kind %d of %d and position (%g, %g, %g)",
                       s->title, (long long)i, s->kind[i], s->n_kinds, p[0], p[1], p[2]);
    }
  }
  for (int64_t i = 0; i < s->n_bonds; i++) {
    for (int k = 0; k < 2; k++) {
      if (s->bond[i][k] < 0 || s->bond[i][k] >= s->n_points) {
        return weir_fail(WEIR_ERR_SHAPE, "structure %s: bond %lld ends at point %lld of %lld",
                         s->title, (long long)i, (long long)s->bond[i][k], (long long)s->n_points);
      }
    }
  }
  return WEIR_OK;
}

static void measure(drawn *d)
{
  const weir_structure *s = d->s;
  double shortest = INFINITY;

  for (int a = 0; a < 3; a++) {
    d->lo[a] = d->hi[a] = s->position[0][a];
  }
  for (int64_t i = 0; i < s->n_points; i++) {
    for (int a = 0; a < 3; a++) {
      d->lo[a] = fmin(d->lo[a], s->position[i][a]);
      d->hi[a] = fmax(d->hi[a], s->position[i][a]);
    }
  }
  for (int64_t i = 0; i < s->n_bonds; i++) {
    const double *p = s->position[s->bond[i][0]], *q = s->position[s->bond[i][1]];
    const double length = sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                               (p[2] - q[2]) * (p[2] - q[2]));

    shortest = length > 0 && length < shortest ? length : shortest;
  }
  d->bond = isfinite(shortest) ? shortest : 0;
}

/* Distance of a point from the nearer end along x. */
static double from_end(const drawn *d, int64_t i)
{
  const double x = d->s->position[i][0];

  return fmin(x - d->lo[0], d->hi[0] - x);
}

/* Points nearer to an end than this are drawn. */
static weir_status find_limit(const drawn *d, double *limit)
{
  const int64_t n = d->s->n_points;
  const double longest = d->bond * (ACROSS - GAP) / MIN_BOND, length = d->hi[0] - d->lo[0];
  double *distance = NULL;

  *limit = d->bond > 0 && length > longest ? longest / 2 : INFINITY;
  if (n <= WEIR_STRUCTURE_POINTS) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *distance, (void **)&distance));
  for (int64_t i = 0; i < n; i++) {
    distance[i] = from_end(d, i);
  }
  qsort(distance, (size_t)n, sizeof *distance, weir_compare_f64);
  *limit = fmin(*limit, distance[WEIR_STRUCTURE_POINTS]);
  if (*limit <= distance[0]) {
    *limit = nextafter(distance[0], INFINITY);
  }
  weir_free(&distance);
  return WEIR_OK;
}

static weir_status choose(drawn *d)
{
  const weir_structure *s = d->s;
  const double middle = d->lo[0] + (d->hi[0] - d->lo[0]) / 2;
  double limit;
  int64_t count = 0, seen = 0;

  WEIR_TRY(find_limit(d, &limit));
  WEIR_TRY(weir_alloc(s->n_points, sizeof *d->is_drawn, (void **)&d->is_drawn));
  d->omitted[0] = d->lo[0];
  d->omitted[1] = d->hi[0];
  for (int64_t i = 0; i < s->n_points; i++) {
    const double x = s->position[i][0];

    if (from_end(d, i) < limit) {
      count++;
      d->omitted[x <= middle ? 0 : 1] =
          x <= middle ? fmax(d->omitted[0], x) : fmin(d->omitted[1], x);
    }
  }
  if (count == s->n_points) {
    d->omitted[0] = d->omitted[1];
  }
  d->stride = (count + WEIR_STRUCTURE_POINTS - 1) / WEIR_STRUCTURE_POINTS;
  WEIR_TRY(weir_alloc((count + d->stride - 1) / d->stride, sizeof *d->point, (void **)&d->point));
  for (int64_t i = 0; i < s->n_points; i++) {
    if (from_end(d, i) < limit && seen++ % d->stride == 0) {
      d->is_drawn[i] = true;
      d->point[d->n++] = i;
    }
  }
  return WEIR_OK;
}

static bool has_omitted(const drawn *d)
{
  return d->omitted[0] < d->omitted[1];
}

/* Rows that the legend takes; drawn unless `out` is NULL. */
static int put_legend(const weir_structure *s, FILE *out)
{
  int rows = 1, x = LEFT;

  for (int k = 0; k < s->n_kinds; k++) {
    const size_t letters = strlen(s->kinds[k].name);
    const int wide = 31 + 7 * (letters < 90 ? (int)letters : 90);

    if (x + wide > WIDTH - RIGHT && x > LEFT) {
      x = LEFT;
      rows++;
    }
    if (out != NULL) {
      const int y = TOP + LEGEND_ROW * (rows - 1);

      fprintf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"5\" fill=\"%s\" stroke=\"currentColor\"/>\n",
              x + 5, y - 4, s->kinds[k].color);
      fprintf(out, "<text x=\"%d\" y=\"%d\">", x + 15, y);
      report_put_escaped(out, s->kinds[k].name);
      fputs("</text>\n", out);
    }
    x += wide;
  }
  return rows;
}

static void lay_out(drawn *d)
{
  const double y = d->hi[1] - d->lo[1], z = d->hi[2] - d->lo[2];
  const double x = d->hi[0] - d->lo[0] - (has_omitted(d) ? d->omitted[1] - d->omitted[0] : 0);
  const double across = x + slope[0] * z, up = y + slope[1] * z;
  const int top = TOP + LEGEND_ROW * put_legend(d->s, NULL) + 8;

  d->scale = d->bond > 0 ? MAX_BOND / d->bond : MAX_BOND;
  d->scale = across > 0 ? fmin(d->scale, (ACROSS - GAP) / across) : d->scale;
  d->scale = up > 0 ? fmin(d->scale, MAX_UP / up) : d->scale;
  d->width = WIDTH;
  d->up = (int)ceil(d->scale * up);
  d->left = LEFT + AWAY + d->scale * slope[0] * z;
  d->bottom = top + AWAY + d->scale * y;
  d->height = top + AWAY + d->up + AWAY + BOTTOM;
}

static double at_x(const drawn *d, double x, double z)
{
  const bool is_right = has_omitted(d) && x > d->omitted[0];

  return d->left + d->scale * (x - d->lo[0] - (is_right ? d->omitted[1] - d->omitted[0] : 0)) +
         (is_right ? GAP : 0) - d->scale * slope[0] * (z - d->lo[2]);
}

static double at_y(const drawn *d, double y, double z)
{
  return d->bottom - d->scale * (y - d->lo[1]) + d->scale * slope[1] * (z - d->lo[2]);
}

static int layer_of(const drawn *d, double z)
{
  const double share = d->hi[2] > d->lo[2] ? (z - d->lo[2]) / (d->hi[2] - d->lo[2]) : 1;

  return share >= 1 ? LAYERS - 1 : (int)(share * LAYERS);
}

static void put_bonds(const drawn *d, int layer)
{
  const weir_structure *s = d->s;
  bool any = false;

  for (int64_t i = 0; i < s->n_bonds; i++) {
    const int64_t a = s->bond[i][0], b = s->bond[i][1];
    const double *p = s->position[a], *q = s->position[b];

    if (!d->is_drawn[a] || !d->is_drawn[b] || layer_of(d, (p[2] + q[2]) / 2) != layer ||
        (has_omitted(d) && (p[0] <= d->omitted[0]) != (q[0] <= d->omitted[0]))) {
      continue;
    }
    fprintf(d->out, "%sM%.1f %.1fL%.1f %.1f", any ? "" : "<path d=\"", at_x(d, p[0], p[2]),
            at_y(d, p[1], p[2]), at_x(d, q[0], q[2]), at_y(d, q[1], q[2]));
    any = true;
  }
  if (any) {
    fputs(
        "\" stroke=\"currentColor\" stroke-opacity=\"0.5\" stroke-width=\"1.4\" fill=\"none\"/>\n",
        d->out);
  }
}

static void put_points(const drawn *d, int layer, int kind)
{
  const weir_structure *s = d->s;
  const double usual = d->bond > 0 ? fmin(9, fmax(1.2, 0.24 * d->bond * d->scale)) : 3;
  bool any = false;

  for (int64_t i = 0; i < d->n; i++) {
    const double *p = s->position[d->point[i]];

    if (s->kind[d->point[i]] != kind || layer_of(d, p[2]) != layer) {
      continue;
    }
    if (!any) {
      fprintf(d->out, "<g fill=\"%s\" stroke=\"currentColor\" stroke-width=\"0.6\">\n",
              s->kinds[kind].color);
      any = true;
    }
    fprintf(d->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", at_x(d, p[0], p[2]),
            at_y(d, p[1], p[2]), usual * s->kinds[kind].radius);
  }
  if (any) {
    fputs("</g>\n", d->out);
  }
}

static void put_text(FILE *out, double x, double y, const char *how, const char *text)
{
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
  report_put_typeset(out, text, false);
  fputs("</text>\n", out);
}

/* An axis from lo to hi with ticks; `a`: 0, 1 or 2. It stands away from the structure. */
static void put_axis(const drawn *d, int a, double lo, double hi)
{
  const double pixels = d->scale * (hi - lo) * (a == 2 ? hypot(slope[0], slope[1]) : 1);
  report_axis axis = {.lo = lo, .hi = hi};
  const double front = d->hi[2], dx = a == 0 ? 0 : a == 1 ? -AWAY : AWAY, dy = a == 1 ? 0 : AWAY;
  double p[3] = {a == 2 ? d->hi[0] : d->lo[0], d->lo[1], front};

  if (pixels < 12) {
    return;
  }
  report_round(&axis, pixels < 40 ? 1 : 2 + (int)(pixels / 80), false);
  for (int end = 0; end < 2; end++) {
    p[a] = end ? hi : lo;
    fprintf(d->out, "%s%.1f %.1f", end ? "L" : "<path d=\"M", at_x(d, p[0], p[2]) + dx,
            at_y(d, p[1], p[2]) + dy);
  }
  fputs("\" stroke=\"currentColor\" fill=\"none\"/>\n", d->out);
  for (double k = ceil(axis.lo / axis.step - 1e-9); k * axis.step <= hi + 1e-9 * axis.step; k++) {
    char text[32];

    p[a] = k * axis.step;
    snprintf(text, sizeof text, "%.6g", p[a] == 0 ? 0.0 : p[a]);
    const double x = at_x(d, p[0], p[2]) + dx, y = at_y(d, p[1], p[2]) + dy;

    fprintf(d->out, "<path d=\"M%.1f %.1f%s\" stroke=\"currentColor\"/>\n", x, y,
            a == 0   ? "v4"
            : a == 1 ? "h-4"
                     : "h4");
    put_text(d->out,
             x + (a == 0   ? 0
                  : a == 1 ? -6
                           : 6),
             y + (a == 0 ? 16 : 4),
             a == 0   ? "text-anchor=\"middle\""
             : a == 1 ? "text-anchor=\"end\""
                      : "text-anchor=\"start\"",
             text);
  }
}

static void put_axes(const drawn *d)
{
  const weir_structure *s = d->s;
  const double base = at_y(d, d->lo[1], d->hi[2]) + AWAY;

  if (has_omitted(d)) {
    put_axis(d, 0, d->lo[0], d->omitted[0]);
    put_axis(d, 0, nextafter(d->omitted[1], d->lo[0]), d->hi[0]);
    put_text(d->out, (at_x(d, d->omitted[0], d->hi[2]) + at_x(d, d->omitted[1], d->hi[2])) / 2,
             base + 4, "text-anchor=\"middle\" fill=\"currentColor\"", "...");
  } else {
    put_axis(d, 0, d->lo[0], d->hi[0]);
  }
  put_axis(d, 1, d->lo[1], d->hi[1]);
  put_axis(d, 2, d->lo[2], d->hi[2]);
  put_text(d->out, (at_x(d, d->lo[0], d->hi[2]) + at_x(d, d->hi[0], d->hi[2])) / 2, base + 32,
           "text-anchor=\"middle\"", s->axis[0]);
  if (d->hi[1] > d->lo[1]) {
    fprintf(d->out, "<g transform=\"translate(14 %.1f) rotate(-90)\">",
            (at_y(d, d->lo[1], d->hi[2]) + at_y(d, d->hi[1], d->hi[2])) / 2);
    put_text(d->out, 0, 0, "text-anchor=\"middle\"", s->axis[1]);
    fputs("</g>\n", d->out);
  }
  if (d->hi[2] > d->lo[2]) {
    const double z = (d->lo[2] + d->hi[2]) / 2;

    put_text(d->out, at_x(d, d->hi[0], z) + AWAY + 30, at_y(d, d->lo[1], z) + AWAY + 14,
             "text-anchor=\"start\"", s->axis[2]);
  }
}

/* Prints the omitted atoms. */
static void put_note(const drawn *d)
{
  char text[200];

  if (d->n == d->s->n_points) {
    return;
  }
  (void)snprintf(text, sizeof text, "%lld of %lld points are drawn%s", (long long)d->n,
                 (long long)d->s->n_points,
                 has_omitted(d) ? ", those of the ends"
                                : ", at equal distances in the order of the points");
  put_text(d->out, LEFT, d->height - 6, "fill=\"currentColor\"", text);
}

static weir_status check_written(const weir_structure *s, FILE *out)
{
  if (ferror(out)) {
    return weir_fail(WEIR_ERR_DATA, "structure %s: the file cannot be written", s->title);
  }
  return WEIR_OK;
}

static weir_status prepare(const weir_structure *s, FILE *out, drawn *d)
{
  *d = (drawn){.s = s, .out = out};
  WEIR_TRY(check(s));
  measure(d);
  return choose(d);
}

static void put_ends(const drawn *d)
{
  const double y = TOP + LEGEND_ROW * put_legend(d->s, NULL);

  for (int end = 0; end < 2; end++) {
    if (d->s->end[end] != NULL) {
      put_text(d->out, end ? fmax(at_x(d, d->hi[0], d->lo[2]), LEFT + 160) : LEFT, y,
               end ? "text-anchor=\"end\" fill=\"currentColor\""
                   : "text-anchor=\"start\" fill=\"currentColor\"",
               d->s->end[end]);
    }
  }
}

weir_status weir_structure_svg(const weir_structure *s, FILE *out)
{
  drawn d;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(prepare(s, out, &d), done);
  lay_out(&d);
  report_put_svg(out, d.width, d.height, s->title);
  put_text(out, d.width / 2.0, 18, "text-anchor=\"middle\" font-weight=\"bold\"", s->title);
  (void)put_legend(s, out);
  put_ends(&d);
  for (int layer = 0; layer < LAYERS; layer++) {
    fprintf(out, "<g opacity=\"%.2f\">\n", 0.4 + 0.6 * layer / (LAYERS - 1));
    put_bonds(&d, layer);
    for (int kind = 0; kind < s->n_kinds; kind++) {
      put_points(&d, layer, kind);
    }
    fputs("</g>\n", out);
  }
  put_axes(&d);
  put_note(&d);
  fputs("</svg>\n", out);
  status = check_written(s, out);
done:
  fini(&d);
  return status;
}

weir_status weir_structure_csv(const weir_structure *s, FILE *out)
{
  drawn d;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(prepare(s, out, &d), done);
  fputs("kind,x,y,z\n", out);
  for (int64_t i = 0; i < d.n; i++) {
    const double *p = s->position[d.point[i]];

    report_put_csv(out, s->kinds[s->kind[d.point[i]]].name);
    for (int a = 0; a < 3; a++) {
      char text[32];

      weir_number_text(p[a], text, sizeof text);
      fprintf(out, ",%s", text);
    }
    fputc('\n', out);
  }
  status = check_written(s, out);
done:
  fini(&d);
  return status;
}

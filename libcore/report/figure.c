/* figure.c - the SVG and CSV text of a figure. */
#include "report/weir_figure.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "conf/weir_number.h"
#include "report/report_priv.h"

enum {
  WIDTH = 760,
  MIN_WIDTH = 200,
  HEIGHT = 300,
  LEFT = 72,
  RIGHT = 16,
  TOP = 34,
  BOTTOM = 46,
  LEGEND_ROW = 16,
  SIDE = 400, /* of axes that are equal */
  ROW = 32,   /* of spans */
  MANY = 500, /* points that are drawn small */
  COLORS = 6
};

/* Distinguishable without colour vision too: Okabe and Ito, 2008. */
static const char *const colors[COLORS] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#e69f00", "#56b4e9"};

void report_put_character(FILE *out, char c)
{
  const char *name = c == '&'    ? "&amp;"
                     : c == '<'  ? "&lt;"
                     : c == '>'  ? "&gt;"
                     : c == '"'  ? "&quot;"
                     : c == '\'' ? "&#39;"
                                 : NULL;

  if (name != NULL) {
    fputs(name, out);
  } else if ((unsigned char)c >= 0x20 || c == '\n' || c == '\t') {
    fputc(c, out);
  }
}

void report_put_escaped(FILE *out, const char *text)
{
  for (const char *c = text == NULL ? "" : text; *c != 0; c++) {
    report_put_character(out, *c);
  }
}

void report_put_svg(FILE *out, int width, int height, const char *title)
{
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
          "%d\" font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\" role=\"img\">\n"
          "<title>",
          width, height, width, height);
  report_put_typeset(out, title, false);
  fputs("</title>\n", out);
}

void report_put_csv(FILE *out, const char *text)
{
  if (strpbrk(text, ",\"\r\n") == NULL) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (const char *c = text; *c != 0; c++) {
    if (*c == '"') {
      fputc('"', out);
    }
    fputc(*c, out);
  }
  fputc('"', out);
}

/* Where a value stands in the drawing. */
typedef struct frame {
  report_axis x, y;
  int top, bottom, height; /* of the axes, and of the whole; the legend stands above the axes */
  int width;               /* of the whole */
  bool paper;              /* the background grid is drawn already */
  FILE *out;
} frame;

/* Share of an axis at a value. */
static double along(const report_axis *a, double v)
{
  return ((a->log ? log10(v) : v) - a->lo) / (a->hi - a->lo);
}

static double at_x(const frame *f, double v)
{
  return LEFT + (f->width - LEFT - RIGHT) * along(&f->x, v);
}

static double at_y(const frame *f, double v)
{
  return f->bottom - (f->bottom - f->top) * along(&f->y, v);
}

static void put_label(FILE *out, double x, double y, const char *how, const char *text)
{
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
  report_put_typeset(out, text, false);
  fputs("</text>\n", out);
}

/* What ticks are multiples of: 1, or a power of a thousand where they had too many digits. */
static void put_tick_power(const frame *f, int power, bool is_x)
{
  char text[32];

  if (power == 0) {
    return;
  }
  (void)snprintf(text, sizeof text, "1e%d", power);
  if (is_x) {
    put_label(f->out, f->width - RIGHT, f->height - 8, "text-anchor=\"end\"", text);
  } else {
    put_label(f->out, LEFT - 6, f->top - 8, "text-anchor=\"end\"", text);
  }
}

static void put_tick(const frame *f, double value, bool is_x, const char *text)
{
  if (is_x) {
    const double x = at_x(f, value);
    fprintf(f->out, "<path d=\"M%.1f %dv4\" stroke=\"currentColor\"/>\n", x, f->bottom);
    put_label(f->out, x, f->bottom + 16, "text-anchor=\"middle\"", text);
  } else {
    const double y = at_y(f, value);
    if (!f->paper) {
      fprintf(f->out, "<path d=\"M%d %.1fH%d\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\n",
              LEFT, y, f->width - RIGHT);
    }
    put_label(f->out, LEFT - 6, y + 4, "text-anchor=\"end\"", text);
  }
}

/* Ticks within less than a decade, at multiples of a round number. */
static void put_narrow_ticks(const frame *f, const report_axis *a, bool is_x)
{
  const double lo = pow(10, a->lo), hi = pow(10, a->hi);
  report_axis values = {.lo = lo, .hi = hi};

  report_round(&values, 5, false);
  const double step = values.step;

  for (double k = ceil(lo / step - 1e-9); k * step <= hi * (1 + 1e-9); k++) {
    char text[32];

    (void)snprintf(text, sizeof text, "%.6g", k * step);
    put_tick(f, k * step, is_x, text);
  }
}

/* Ticks at powers of ten, and over less than three decades at 2 and 5 times them. Returns their
 * number; put: draws them. */
static int log_ticks(const frame *f, const report_axis *a, bool is_x, bool put)
{
  static const double times[] = {1, 2, 5};
  const double decades = a->hi - a->lo;
  const int each = decades > 10 ? (int)ceil(decades / 10) : 1;
  int n = 0;

  for (int power = (int)floor(a->lo); power <= (int)ceil(a->hi); power += each) {
    for (int k = 0; k < (decades < 3 ? 3 : 1); k++) {
      const double at = power + log10(times[k]);
      char text[32];

      if (at >= a->lo - 1e-9 && at <= a->hi + 1e-9) {
        const double value = times[k] * pow(10, power);

        n++;
        (void)snprintf(text, sizeof text, power < -3 || power > 4 ? "%.0e" : "%g", value);
        if (put) {
          put_tick(f, value, is_x, text);
        }
      }
    }
  }
  return n;
}

/* One label alone does not say how long a decade is. */
static void put_log_ticks(const frame *f, const report_axis *a, bool is_x)
{
  if (log_ticks(f, a, is_x, false) < 2) {
    put_narrow_ticks(f, a, is_x);
  } else {
    (void)log_ticks(f, a, is_x, true);
  }
}

static void put_ticks(const frame *f, const report_axis *a, bool is_x)
{
  const int power = report_tick_power(a);

  if (a->log) {
    put_log_ticks(f, a, is_x);
    return;
  }
  put_tick_power(f, power, is_x);
  for (double k = ceil(a->lo / a->step - 1e-9); k * a->step <= a->hi + 1e-9 * a->step; k++) {
    char text[32];

    report_tick_text(a, k, power, text, sizeof text);
    put_tick(f, k * a->step, is_x, text);
  }
}

static bool has_bars(const weir_figure *figure)
{
  return figure->n_series > 0 && figure->series[0].kind == WEIR_FIGURE_BARS;
}

static bool has_rows(const weir_figure *figure)
{
  return figure->n_series > 0 && figure->series[0].kind == WEIR_FIGURE_SPANS;
}

static void put_frame(const frame *f, const weir_figure *figure)
{
  /* Of the visible range of a long strip before it is scrolled. */
  const double middle = (LEFT + (f->paper && f->width > WIDTH ? WIDTH : f->width) - RIGHT) / 2.0;

  if (f->paper) {
    report_paper_put(f->out, LEFT, f->top, f->width - RIGHT, f->bottom);
  }
  if (!has_rows(figure)) {
    put_ticks(f, &f->y, false);
  }
  if (!has_bars(figure)) {
    put_ticks(f, &f->x, true);
  }
  fprintf(f->out, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"currentColor\"/>\n", LEFT,
          f->top, f->bottom, f->width - RIGHT);
  put_label(f->out, middle, 18, "text-anchor=\"middle\" font-weight=\"bold\"", figure->title);
  put_label(f->out, middle, f->height - 8, "text-anchor=\"middle\"", figure->x_label);
  fprintf(f->out, "<g transform=\"translate(14 %d) rotate(-90)\">", (f->top + f->bottom) / 2);
  put_label(f->out, 0, 0, "text-anchor=\"middle\"", figure->y_label);
  fputs("</g>\n", f->out);
}

/* Stretches [*from, end) of finite points, one after the other; returns end, or -1 when none is
 * left. */
static int64_t next_stretch(const weir_figure_series *s, int64_t *from)
{
  int64_t i = *from;

  while (i < s->n && !(isfinite(s->x[i]) && isfinite(s->y[i]))) {
    i++;
  }
  *from = i;
  while (i < s->n && isfinite(s->x[i]) && isfinite(s->y[i])) {
    i++;
  }
  return *from < s->n ? i : -1;
}

static void put_band(const frame *f, const weir_figure_series *s, const char *color)
{
  bool first = true;

  fputs("<path d=\"", f->out);
  for (int64_t i = 0; i < s->n; i++) {
    if (isfinite(s->x[i]) && isfinite(s->hi[i]) && isfinite(s->lo[i])) {
      fprintf(f->out, "%c%.1f %.1f", first ? 'M' : 'L', at_x(f, s->x[i]), at_y(f, s->hi[i]));
      first = false;
    }
  }
  for (int64_t i = s->n - 1; i >= 0; i--) {
    if (isfinite(s->x[i]) && isfinite(s->hi[i]) && isfinite(s->lo[i])) {
      fprintf(f->out, "L%.1f %.1f", at_x(f, s->x[i]), at_y(f, s->lo[i]));
    }
  }
  fprintf(f->out, "%s\" fill=\"%s\" fill-opacity=\"0.2\"/>\n", first ? "M0 0" : "Z", color);
}

/* References differ by their strokes. */
static const char *dashes_of(const weir_figure_series *s, int number)
{
  return !s->reference     ? ""
         : number % 2 == 1 ? " stroke-dasharray=\"1 3\""
                           : " stroke-dasharray=\"6 4\"";
}

static void put_line(const frame *f, const weir_figure_series *s, const char *color, int number)
{
  int64_t from = 0, end;

  if (s->lo != NULL) {
    put_band(f, s, color);
  }
  while ((end = next_stretch(s, &from)) >= 0) {
    fputs("<path d=\"", f->out);
    for (int64_t i = from; i < end; i++) {
      fprintf(f->out, "%c%.1f %.1f", i == from ? 'M' : 'L', at_x(f, s->x[i]), at_y(f, s->y[i]));
    }
    fprintf(f->out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.2\"%s/>\n", color,
            dashes_of(s, number));
    from = end;
  }
}

static void put_points(const frame *f, const weir_figure_series *s, const char *color)
{
  const char *radius = s->n > MANY ? "1.6" : "3.2";

  for (int64_t i = 0; i < s->n; i++) {
    if (isfinite(s->x[i]) && isfinite(s->y[i])) {
      fprintf(f->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>\n", at_x(f, s->x[i]),
              at_y(f, s->y[i]), radius, color);
    }
  }
}

static void put_box(const frame *f, const double edge[2], double value, const char *color)
{
  if (!(isfinite(edge[0]) && isfinite(edge[1]) && isfinite(value))) {
    return;
  }
  const double x0 = at_x(f, edge[0]), x1 = at_x(f, edge[1]);
  const double y0 = at_y(f, fmax(value, 0)), y1 = at_y(f, fmin(value, 0));

  fprintf(f->out,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
          "fill-opacity=\"0.85\"/>\n",
          fmin(x0, x1), y0, fabs(x1 - x0), y1 - y0, color);
}

static void put_bars(const frame *f, const weir_figure_series *s, const char *color)
{
  for (int64_t i = 0; i < s->n; i++) {
    const double at = REPORT_BAR_AT(i), edge[2] = {at - 0.35, at + 0.35};

    put_box(f, edge, s->y[i], color);
    put_label(f->out, at_x(f, at), f->bottom + 16, "text-anchor=\"middle\"", s->label[i]);
  }
}

/* A row: its name, a line, and on it the spans. What holds for a moment only can still be seen. */
static void put_spans(const frame *f, const weir_figure_series *s, int number, const char *color)
{
  const int base = f->top + ROW * (number + 1) - 3;

  put_label(f->out, LEFT + 4, base - 14, "fill=\"currentColor\"", s->name);
  fprintf(f->out, "<path d=\"M%d %dH%d\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>\n", LEFT,
          base, f->width - RIGHT);
  for (int64_t i = 0; i < s->n; i++) {
    if (isfinite(s->lo[i]) && isfinite(s->hi[i]) && s->y[i] > 0) {
      const double x0 = at_x(f, s->lo[i]), x1 = at_x(f, s->hi[i]);

      fprintf(f->out,
              "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"11\" fill=\"%s\" "
              "fill-opacity=\"%.2f\"/>\n",
              x0, base - 11, fmax(x1 - x0, 0.8), color, 0.25 + 0.75 * fmin(s->y[i], 1));
    }
  }
}

static const char *color_of(const weir_figure_series *s, int number)
{
  return s->reference ? "#888888" : colors[(s->color > 0 ? s->color - 1 : number) % COLORS];
}

static void put_series(const frame *f, const weir_figure_series *s, int number)
{
  const char *color = color_of(s, number);

  switch (s->kind) {
  case WEIR_FIGURE_LINE:
    put_line(f, s, color, number);
    break;
  case WEIR_FIGURE_POINTS:
    put_points(f, s, color);
    break;
  case WEIR_FIGURE_BARS:
    put_bars(f, s, color);
    break;
  case WEIR_FIGURE_HISTOGRAM:
    for (int64_t i = 0; i < s->n; i++) {
      put_box(f, &s->x[i], s->y[i], color);
    }
    break;
  case WEIR_FIGURE_SPANS:
    put_spans(f, s, number, color);
    break;
  }
}

/* Rows that the legend takes above the axes of a figure so wide; drawn unless `out` is NULL. */
static int put_legend(FILE *out, const weir_figure *figure, int width)
{
  int rows = 0, x = width;

  for (int k = 0; k < figure->n_series; k++) {
    if (figure->series[k].name == NULL || figure->n_series == 1 || has_rows(figure)) {
      continue;
    }
    /* A character takes 7 of 12 in height at most times; a very long name stands alone. */
    const size_t letters = strlen(figure->series[k].name);
    const int wide = 31 + 7 * (letters < 90 ? (int)letters : 90);

    if (x + wide > width - RIGHT) {
      x = LEFT;
      rows++;
    }
    if (out != NULL) {
      const int y = TOP + LEGEND_ROW * rows - 14;

      if (figure->series[k].reference) {
        fprintf(out, "<path d=\"M%d %dh14\" stroke=\"%s\" stroke-width=\"1.5\"%s/>\n", x - 2, y - 4,
                color_of(&figure->series[k], k), dashes_of(&figure->series[k], k));
      } else {
        fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x, y - 9,
                color_of(&figure->series[k], k));
      }
      put_label(out, x + 15, y, "", figure->series[k].name);
    }
    x += wide;
  }
  return rows;
}

static bool has_marks(const weir_figure *figure)
{
  for (int k = 0; k < figure->n_series; k++) {
    const weir_figure_series *s = &figure->series[k];

    for (int64_t i = 0; i < s->n; i++) {
      const bool counts = s->kind == WEIR_FIGURE_HISTOGRAM || s->kind == WEIR_FIGURE_SPANS;

      if (isfinite(s->y[i]) && (!counts || s->y[i] != 0)) {
        return true;
      }
    }
  }
  return false;
}

static weir_status check(const weir_figure *figure)
{
  if (figure->width != 0 && figure->width < MIN_WIDTH) {
    return weir_fail(WEIR_ERR_SHAPE, "figure %s: %d pixels are too narrow", figure->title,
                     figure->width);
  }
  for (int k = 0; k < figure->n_series; k++) {
    const weir_figure_series *s = &figure->series[k];
    const bool is_row = s->kind == WEIR_FIGURE_SPANS;
    const bool needs_x = s->kind != WEIR_FIGURE_BARS && !is_row;

    if (s->n < 0 || is_row != has_rows(figure) || (is_row && s->n > 0 && s->lo == NULL) ||
        (s->n > 0 && (s->y == NULL || (needs_x && s->x == NULL) ||
                      (s->kind == WEIR_FIGURE_BARS && s->label == NULL) || !s->lo != !s->hi))) {
      return weir_fail(WEIR_ERR_SHAPE, "figure %s: series %d lacks an array that its kind needs",
                       figure->title, k);
    }
  }
  return WEIR_OK;
}

static weir_status check_written(const weir_figure *figure, FILE *out)
{
  if (ferror(out)) {
    return weir_fail(WEIR_ERR_DATA, "figure %s: the file cannot be written", figure->title);
  }
  return WEIR_OK;
}

int report_legend_rows(const weir_figure *figure)
{
  return put_legend(NULL, figure, figure->width > 0 ? figure->width : WIDTH);
}

/* Size and axes of a figure. */
static frame lay_out(const weir_figure *figure, FILE *out)
{
  frame f = {.out = out, .width = figure->width > 0 ? figure->width : WIDTH};
  int up = HEIGHT - TOP - BOTTOM;

  f.paper = report_paper_axes(figure, &f.x, &f.y);
  if (f.paper) {
    f.width = LEFT + RIGHT + (int)lround(report_paper_across(&f.x));
    up = (int)lround(report_paper_up(&f.y));
  } else {
    report_axes(figure, &f.x, &f.y);
  }
  if (has_rows(figure)) {
    up = ROW * figure->n_series;
  }
  if (figure->equal_axes) {
    f.width = LEFT + RIGHT + SIDE;
    up = SIDE;
  }
  const int rows = put_legend(NULL, figure, f.width);

  f.top = TOP + LEGEND_ROW * (rows > figure->legend_rows ? rows : figure->legend_rows);
  f.bottom = f.top + up;
  f.height = f.bottom + BOTTOM;
  return f;
}

weir_status weir_figure_svg(const weir_figure *figure, FILE *out)
{
  WEIR_TRY(check(figure));
  const frame f = lay_out(figure, out);

  report_put_svg(out, f.width, f.height, figure->title);
  put_frame(&f, figure);
  for (int k = 0; k < figure->n_series; k++) {
    put_series(&f, &figure->series[k], k);
  }
  (void)put_legend(out, figure, f.width);
  if (!has_marks(figure)) {
    put_label(out, (LEFT + f.width - RIGHT) / 2.0, (f.top + f.bottom) / 2.0,
              "text-anchor=\"middle\" fill=\"currentColor\"",
              figure->empty == NULL ? "no data" : figure->empty);
  }
  fputs("</svg>\n", out);
  return check_written(figure, out);
}

static void put_number(FILE *out, double value)
{
  char text[32];

  fputc(',', out);
  if (!isnan(value)) {
    weir_number_text(value, text, sizeof text);
    fputs(text, out);
  }
}

static void put_row(FILE *out, const weir_figure_series *s, int64_t i)
{
  const bool band = s->lo != NULL && s->kind == WEIR_FIGURE_LINE;
  const bool edges = s->kind == WEIR_FIGURE_HISTOGRAM, row = s->kind == WEIR_FIGURE_SPANS;

  report_put_csv(out, s->name == NULL ? "" : s->name);
  if (s->kind == WEIR_FIGURE_BARS) {
    fputc(',', out);
    report_put_csv(out, s->label[i]);
  } else {
    put_number(out, edges ? (s->x[i] + s->x[i + 1]) / 2
                    : row ? (s->lo[i] + s->hi[i]) / 2
                          : s->x[i]);
  }
  put_number(out, s->y[i]);
  put_number(out, edges ? s->x[i] : band || row ? s->lo[i] : NAN);
  put_number(out, edges ? s->x[i + 1] : band || row ? s->hi[i] : NAN);
  fputc('\n', out);
}

weir_status weir_figure_csv(const weir_figure *figure, FILE *out)
{
  WEIR_TRY(check(figure));
  fputs("series,x,y,lo,hi\n", out);
  for (int k = 0; k < figure->n_series; k++) {
    for (int64_t i = 0; i < figure->series[k].n; i++) {
      put_row(out, &figure->series[k], i);
    }
  }
  return check_written(figure, out);
}

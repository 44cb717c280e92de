/* figure_paper.c - the paper of electrocardiographs: 25 mm are 1 s and 10 mm are 1 mV, with a line
 * every millimetre and a bold one every five (Kligfield et al., Circulation 115 (2007) 1306-1324).
 */
#include <math.h>
#include "report/report_priv.h"

/* Bold boxes: 5 mm. */
#define BOX_S 0.2
#define BOX_MV 0.5
/* Millimetres of a box, and boxes across and up of the smallest and the largest paper. */
enum { BOX_MM = 5, MIN_ACROSS = 20, MAX_ACROSS = 3000, MIN_UP = 4, MAX_UP = 24 };

/* Moves the ends to bold lines, at least `min_boxes` boxes apart; false where the boxes are too
 * many. */
static bool round_to_boxes(report_axis *a, double box, int min_boxes, int max_boxes)
{
  const double lo = floor(a->lo / box + 1e-6), hi = ceil(a->hi / box - 1e-6);

  if (!(hi - lo <= max_boxes)) {
    return false;
  }
  a->lo = lo * box;
  a->hi = fmax(hi, lo + min_boxes) * box;
  return true;
}

bool report_paper_axes(const weir_figure *figure, report_axis *x, report_axis *y)
{
  report_axis across = *x, up = *y;

  if (!figure->ecg_paper || !report_range(figure, &across, &up) ||
      !round_to_boxes(&across, BOX_S, MIN_ACROSS, MAX_ACROSS) ||
      !round_to_boxes(&up, BOX_MV, MIN_UP, MAX_UP)) {
    return false;
  }
  across.step = 5 * BOX_S;
  up.step = BOX_MV;
  *x = across;
  *y = up;
  return true;
}

double report_paper_across(const report_axis *x)
{
  return REPORT_MM * BOX_MM * (x->hi - x->lo) / BOX_S;
}

double report_paper_up(const report_axis *y)
{
  return REPORT_MM * BOX_MM * (y->hi - y->lo) / BOX_MV;
}

/* Lines `mm` apart over the paper, which is the box of the four edges in pixels. */
static void put_lines(FILE *out, const double edge[4], int mm, const char *color)
{
  const double step = REPORT_MM * mm;

  fputs("<path d=\"", out);
  for (int k = 0; edge[0] + k * step <= edge[2] + 0.1; k++) {
    fprintf(out, "M%.1f %.1fV%.1f", edge[0] + k * step, edge[1], edge[3]);
  }
  for (int k = 0; edge[3] - k * step >= edge[1] - 0.1; k++) {
    fprintf(out, "M%.1f %.1fH%.1f", edge[0], edge[3] - k * step, edge[2]);
  }
  fprintf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"/>\n", color,
          mm == 1 ? "0.5" : "1");
}

void report_paper_put(FILE *out, double left, double top, double right, double bottom)
{
  const double edge[4] = {left, top, right, bottom};

  put_lines(out, edge, 1, "#d07070\" stroke-opacity=\"0.35");
  put_lines(out, edge, BOX_MM, "#d07070\" stroke-opacity=\"0.7");
}

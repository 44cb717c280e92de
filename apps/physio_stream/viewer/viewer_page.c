/* viewer_page.c - the page of a viewer: what it says, its data and the script that draws them. */
#include <string.h>
#include "base/weir_log.h"
#include "report/weir_report.h"
#include "viewer/viewer.h"

/* Texts of viewer.css and of the scripts, made by the build, an element a line; NULL at the end. */
extern const char *const ps_viewer_style[], *const ps_viewer_script[];

static const char controls[] =
    "<canvas id=\"view\" tabindex=\"0\" role=\"application\" aria-label=\"signals over time, with "
    "annotations; the keys are listed below\"></canvas>\n"
    "<p id=\"shown\"></p>\n"
    "<div class=\"bar\" role=\"group\" aria-label=\"View\">"
    "<button id=\"do_back\">back</button><button id=\"do_forward\">forward</button>"
    "<button id=\"do_in\">zoom in</button><button id=\"do_out\">zoom out</button>"
    "<button id=\"do_all\">whole recording</button>"
    "<label>time <input id=\"place\" placeholder=\"h:mm:ss\"></label>"
    "<button id=\"do_go\">go</button>"
    "<label><input type=\"checkbox\" id=\"whole\"> scale of the whole recording</label></div>\n"
    "<div class=\"bar\" role=\"group\" aria-label=\"Annotations\">"
    "<label>marks <select id=\"marks\"></select></label>"
    "<button id=\"do_previous\">previous</button><button id=\"do_next\">next</button>"
    "<label>code <select id=\"code\"></select></label>"
    "<label>text <input id=\"text\"></label>"
    "<button id=\"do_add\">add at the cursor</button><button id=\"do_relabel\">change</button>"
    "<button id=\"do_remove\">delete</button><button id=\"do_undo\">undo</button>"
    "<label>file <input id=\"file\"></label><button id=\"do_save\">save</button></div>\n"
    "<p id=\"state\" role=\"status\"></p>\n"
    "<noscript><p>This page needs JavaScript to draw.</p></noscript>\n";

enum { KEY_COLUMNS = 2 };
static const char *const key_head[KEY_COLUMNS] = {"key, with the drawing in focus", "what it does"};
static const char *const key_rows[] = {
    "arrow left, right; Page Up, Page Down; Home, End",
    "move by a tenth, by most of the view; "
    "begin and end of the recording",
    "arrow up, down; + and -; 0",
    "zoom in and out; the whole recording",
    "n and p",
    "next and previous mark of the chosen file",
    "comma and full stop; < and >",
    "move the cursor by a point; by a twentieth of the view",
    "a; r; Delete; u",
    "add a mark with the chosen code and text at the cursor; give the chosen "
    "mark that code and text; delete it; undo",
};

static void put_lines(const char *const *lines, FILE *out)
{
  for (; *lines != NULL; lines++) {
    fputs(*lines, out);
  }
}

static void put_signal(const ps_viewer_signal *s, FILE *out)
{
  fputs("{\"name\":", out);
  ps_marks_put_text(s->name, out);
  fputs(",\"unit\":", out);
  ps_marks_put_text(s->units, out);
  fprintf(out, ",\"fs\":[%lld,%lld],\"sparse\":%s,", (long long)s->fs_num, (long long)s->fs_den,
          s->sparse ? "true" : "false");
  ps_envelope_put(&s->envelope, out);
  fputs(",\"samples\":[", out);
  for (int64_t k = 0; k < s->n_samples; k++) {
    fprintf(out, k > 0 ? ",\n[%lld," : "\n[%lld,", (long long)s->samples[k].slot);
    ps_envelope_put_samples(s->samples[k].value, s->samples[k].n, out);
    fputs("]", out);
  }
  fputs("]}", out);
}

static void put_data(const ps_viewer *v, const ps_input_info *info, FILE *out)
{
  fputs("<script type=\"application/json\" id=\"data\">{\"record\":", out);
  ps_marks_put_text(info->name, out);
  fprintf(out, ",\"start\":{\"kind\":%d,\"us\":%lld},\n", info->start_kind,
          (long long)info->start_us);
  ps_marks_put_codes(out);
  fputs(",\n\"signals\":[", out);
  for (int i = 0; i < v->n_signals; i++) {
    fputs(i > 0 ? ",\n" : "\n", out);
    put_signal(&v->signal[i], out);
  }
  fputs("],\n\"marks\":[", out);
  for (int i = 0; i < v->n_marks; i++) {
    fputs(i > 0 ? ",\n" : "\n", out);
    ps_marks_put(&v->marks[i], out);
  }
  fputs("]}</script>\n", out);
}

/* What the page has of each signal. */
static weir_status add_levels(const ps_viewer *v, weir_report *r)
{
  enum { COLUMNS = 6 };
  static const char *const head[COLUMNS] = {"signal",      "unit",
                                            "rate (Hz)",   "samples a point, at least",
                                            "a point (s)", "events with all samples"};
  weir_table t = {0};

  for (int i = 0; i < v->n_signals; i++) {
    const ps_viewer_signal *const s = &v->signal[i];
    const double rate = (double)s->fs_num / (double)s->fs_den;

    weir_table_add(&t, "%s", s->name);
    weir_table_add(&t, "%s", s->units);
    weir_table_add(&t, "%.7g", rate);
    weir_table_add(&t, "%lld", (long long)s->envelope.bin);
    weir_table_add(&t, "%.4g", (double)s->envelope.bin / rate);
    weir_table_add(&t, "%lld", (long long)s->shown);
  }
  const weir_status status = weir_table_report(&t, r, "levels", COLUMNS, head);

  weir_table_fini(&t);
  return status;
}

static weir_status add_notes(const ps_viewer *v, weir_report *r)
{
  bool coarse = false;

  for (int i = 0; i < v->n_signals; i++) {
    coarse = coarse || v->signal[i].envelope.bin > 1;
  }
  WEIR_TRY(weir_report_heading(r, "Levels"));
  WEIR_TRY(weir_report_text(
      r,
      "A column of the drawing reaches from the least to the greatest sample in it. An orange line "
      "below it: samples are missing there; tinted as well: there is none. Nothing is "
      "interpolated. %s",
      coarse ? "Finer levels than those below do not fit output.viewer.size and are left out: "
               "there, a bar is the range of so many samples."
             : "The page has every sample."));
  if (v->events > 0) {
    WEIR_TRY(weir_report_text(r,
                              "Of %lld events (annotations other than normal beats, alarms) all "
                              "samples are kept %.4g s before and after "
                              "(output.viewer.around), as far as there is room: first of the files "
                              "with fewest.",
                              (long long)v->events, v->opts->around));
  }
  WEIR_TRY(add_levels(v, r));
  WEIR_TRY(weir_report_heading(r, "Keys"));
  WEIR_TRY(weir_report_table(r, "keys", KEY_COLUMNS, key_head,
                             sizeof key_rows / sizeof key_rows[0] / KEY_COLUMNS, key_rows));
  return weir_report_text(
      r,
      "The mouse: drag to move, wheel to zoom (with Shift: move), click to set the cursor and to "
      "choose a mark. Changes are in this page only, until they are saved: as an annotation "
      "file (MIT format, annot(5) of WFDB), which the browser downloads. For research only.");
}

static weir_status fill(const ps_viewer *v, const ps_input_info *info, weir_report *r)
{
  FILE *const out = weir_report_stream(r);

  fputs("<style>", out);
  put_lines(ps_viewer_style, out);
  fputs("</style>\n", out);
  fputs(controls, out);
  WEIR_TRY(add_notes(v, r));
  put_data(v, info, out);
  fputs("<script>\n", out);
  put_lines(ps_viewer_script, out);
  fputs("</script>\n", out);
  return ferror(out) ? weir_fail(WEIR_ERR_MEMORY, "viewer: no memory for the page") : WEIR_OK;
}

weir_status ps_viewer_write(ps_viewer *v, const ps_input_info *info, const char *dir)
{
  weir_report *r = NULL;
  char title[256];

  if (v == NULL) {
    return WEIR_OK;
  }
  (void)snprintf(title, sizeof title, "physio_stream: signals of %s", info->name);
  WEIR_TRY(weir_report_open_page(dir, "viewer.html", title, &r));
  WEIR_TRY(weir_report_commit(&r, fill(v, info, r)));
  weir_event("viewer", WEIR_TEXT("record", info->name), WEIR_INT("signals", v->n_signals),
             WEIR_INT("marks", v->n_marks), WEIR_INT("events", v->events));
  return WEIR_OK;
}

/* prepare_import.c - forecasts and their truth out of files of others: opened, checked, surveyed,
 * and kept as one archive each. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/date.h"
#include "data/invariants.h"
#include "commands.h"

/* The two sides; the truth may be missing. */
enum { FORECAST, TRUTH, SIDES, HOW = 512 };
static const char *const side_name[SIDES] = {"forecast", "truth"};

typedef struct work {
  const weir_cli *cli;
  const wx_cfg *cfg;
  wx_archive *archive[SIDES]; /* NULL: not given */
  wx_inventory survey[SIDES];
  double *lat;                /* of the target grid, with its longitudes */
  wx_archive *like;           /* import.grid.file */
  wx_grid target;             /* where fields are regridded */
  wx_invariants invariants;   /* on the grid of the forecasts */
  char regridded[SIDES][HOW]; /* how, as a sentence; "": not */
  int64_t *found;             /* [leads] initialisation times of the forecast that have a truth */
} work;

static const weir_string_list *paths_of(const wx_cfg *cfg, int side)
{
  return side == FORECAST ? &cfg->data.forecast : &cfg->data.truth;
}

void wx_print_archive(const wx_archive_info *f, const char *side)
{
  const int64_t files = f->n_files;
  char first[32], last[32], grid[WX_LONG];

  wx_date_text((double)f->start[0] / 86400, first, sizeof first);
  wx_date_text((double)f->start[f->n_init_times - 1] / 86400, last, sizeof last);
  wx_grid_text(&f->grid, grid, sizeof grid);
  printf("# %s: %s%s, %lld file%s\n", side, f->name, files > 1 ? " ..." : "", (long long)files,
         files > 1 ? "s" : "");
  printf("#   %lld initialisation time%s, %s to %s; %lld lead%s, %g to %g h; %lld member%s, %lld "
         "to %lld\n",
         (long long)f->n_init_times, f->n_init_times > 1 ? "s" : "", first, last,
         (long long)f->n_leads, f->n_leads > 1 ? "s" : "", f->lead[0], f->lead[f->n_leads - 1],
         (long long)f->n_members, f->n_members > 1 ? "s" : "", (long long)f->member[0],
         (long long)f->member[f->n_members - 1]);
  printf("#   %s\n", grid);
}

/* warned: [n_quantities], the warning of each; NULL: none yet. */
static void print_survey(const wx_archive_info *f, const wx_inventory *s, const int64_t *found,
                         const char **warned)
{
  printf("%-12s %9s %11s %11s %12s %12s %12s %12s %-10s%s\n", "quantity", "lead h", "fields",
         "missing", "least", "mean", "greatest", "sd", "units", found != NULL ? " truths" : "");
  for (int64_t i = 0; i < s->n; i++) {
    const wx_inventory_line *l = &s->line[i];
    const wx_quantity *q = &f->quantity[l->quantity];

    if (l->fields == 0) {
      continue;
    }
    printf("%-12s %9g %11lld %11lld %12.6g %12.6g %12.6g %12.6g %-10s", q->name, f->lead[l->lead],
           (long long)l->fields, (long long)l->missing, l->min, l->mean, l->max, l->sd, q->units);
    if (found != NULL) {
      printf(" %lld", (long long)found[l->lead]);
    }
    printf("\n");
    wx_inventory_warn("prepare", f, l, &warned[l->quantity]);
  }
  if (s->absent > 0) {
    weir_warn("prepare", "%s: %lld fields are not there: they count as missing", f->name,
              (long long)s->absent);
  }
}

static weir_status write_survey(const work *w)
{
  char path[WX_PATH];
  weir_writer *out = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(w->cli->out, "import.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &out));
  WEIR_TRY_GOTO(weir_writer_printf(out, "archive,quantity,lead_h,fields,fields_expected,values,"
                                        "values_missing,least,mean,greatest,sd,units\n"),
                done);
  for (int side = 0; side < SIDES; side++) {
    for (int64_t i = 0; i < w->survey[side].n; i++) {
      const wx_archive_info *f = wx_archive_get(w->archive[side]);
      const wx_inventory_line *l = &w->survey[side].line[i];
      const wx_quantity *q = &f->quantity[l->quantity];

      if (l->fields > 0) {
        WEIR_TRY_GOTO(
            weir_writer_printf(out, "%s,%s,%g,%lld,%lld,%lld,%lld,%.9g,%.9g,%.9g,%.9g,%s\n",
                               side_name[side], q->name, f->lead[l->lead], (long long)l->fields,
                               (long long)l->expected, (long long)l->values, (long long)l->missing,
                               l->min, l->mean, l->max, l->sd, q->units),
            done);
      }
    }
  }
  WEIR_TRY_GOTO(weir_writer_commit(&out), done);
done:
  weir_writer_destroy(&out);
  return status;
}

/* Every field of a side, read once: surveyed and, where that is asked for, written. */
static weir_status take_side(work *w, int side)
{
  const wx_archive_info *f = wx_archive_get(w->archive[side]);
  wx_archive_writer *copy = NULL;
  char path[WX_PATH], name[32], history[2 * HOW];
  weir_status status = WEIR_OK;

  (void)snprintf(name, sizeof name, "%s.nc", side_name[side]);
  WEIR_TRY(weir_path_join(w->cli->out, name, path, sizeof path));
  if (w->cfg->import.convert) {
    WEIR_TRY(wx_archive_create(path, f, &copy));
    (void)snprintf(history, sizeof history,
                   "weather_ensemble prepare, from files of the names in provenance.json%s%s",
                   w->regridded[side][0] != 0 ? "; " : "", w->regridded[side]);
    WEIR_TRY_GOTO(wx_archive_put_text(copy, "history", history), done);
  }
  WEIR_TRY_GOTO(wx_inventory_take(w->archive[side], copy, &w->survey[side]), done);
  WEIR_TRY_GOTO(wx_inventory_check(
                    f, &w->survey[side],
                    side == FORECAST ? &w->cfg->import
                                     : &(wx_import_opts){.incomplete = w->cfg->import.incomplete}),
                done);
  if (copy != NULL) {
    WEIR_TRY_GOTO(wx_archive_commit(&copy), done);
  }
done:
  wx_archive_abandon(&copy);
  return status;
}

/* Of the initialisation times that training may see. */
static weir_status write_climate(work *w)
{
  const wx_archive_info *f = wx_archive_get(w->archive[FORECAST]);
  wx_split split = {.left_out = 0};
  char path[WX_PATH];
  wx_model_climate c = {.n_leads = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(w->cli->out, "climate.nc", path, sizeof path));
  WEIR_TRY_GOTO(wx_split_init_times(&w->cfg->data.split, f, &split), done);
  WEIR_TRY_GOTO(wx_model_climate_fit(&w->cfg->climate, w->archive[FORECAST], w->archive[TRUTH],
                                     split.sample[WX_TRAIN], split.n[WX_TRAIN], &c),
                done);
  WEIR_TRY_GOTO(wx_model_climate_write(&c, path), done);
  weir_info("prepare", "wrote %s: of %lld training initialisation times", path,
            (long long)split.n[WX_TRAIN]);
done:
  wx_model_climate_fini(&c);
  wx_split_fini(&split);
  return status;
}

/* The surface of the model on the grid of the forecasts. */
static weir_status write_invariants(const work *w)
{
  const wx_archive_info *const f = wx_archive_get(w->archive[FORECAST]);
  char path[WX_PATH];

  if (w->invariants.field[WX_OROGRAPHY] == NULL && w->invariants.field[WX_LAND_SEA_MASK] == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(w->cli->out, "invariants.nc", path, sizeof path));
  WEIR_TRY(wx_invariants_write(&w->invariants, f,
                               "weather_ensemble prepare, from data.invariants on the grid of "
                               "forecast.nc; files in provenance.json",
                               path));
  for (int k = 0; k < WX_INVARIANTS; k++) {
    weir_info("prepare", "%s: %s %s", path, w->invariants.field[k] != NULL ? "has the" : "has no",
              wx_invariant_name[k]);
  }
  return WEIR_OK;
}

static weir_status write_origin(const work *w)
{
  const wx_lineage of = {.n_others = 0};
  wx_file_names inputs = {.n = 0};

  WEIR_TRY(wx_find_inputs(w->cfg, &of, &inputs));
  const weir_status status =
      wx_write_provenance(w->cli, w->cfg, (const char *const *)inputs.path, (int)inputs.n);

  wx_file_names_fini(&inputs);
  return status;
}

/* The grid of import.grid. */
static weir_status find_target(work *w)
{
  const wx_target_opts *const o = &w->cfg->import.grid;

  if (o->spacing > 0 && o->file[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.grid.spacing and import.grid.file are both set: leave one out");
  }
  if (o->spacing > 0) {
    return wx_target_make(o, &w->target, &w->lat);
  }
  WEIR_TRY(wx_archive_open_as(&o->file, 1, &w->cfg->data.grib, &w->like));
  w->target = wx_archive_get(w->like)->grid;
  w->target.weight = NULL;
  return WEIR_OK;
}

/* A mean of angles is no angle: 350 and 10 degrees would become 180. */
static weir_status refuse_directions(const wx_archive_info *f)
{
  static const char *const units[] = {"degree", "degrees", "degree true", "Degree true"};

  for (int64_t i = 0; i < f->n_quantities; i++) {
    const wx_quantity *const q = &f->quantity[i];
    bool angle = strstr(q->standard_name, "direction") != NULL;

    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
      angle = angle || strcmp(q->units, units[k]) == 0;
    }
    if (angle) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: %s (%s) is a direction, which import.grid cannot interpolate: regrid "
                       "eastward and northward components, and leave it out of the files",
                       f->name, q->name, q->units);
    }
  }
  return WEIR_OK;
}

/* The offsets of temperatures at stations, by the surface of the forecast model, whose fields have
 * these weights. */
static weir_status correct_height(work *w, const float *orography)
{
  const wx_lapse_opts *const o = &w->cfg->import.height;
  const size_t used = strlen(w->regridded[FORECAST]);
  int64_t unknown = 0;

  WEIR_TRY(wx_lapse_correct(o, w->archive[FORECAST], orography, &unknown));
  (void)snprintf(w->regridded[FORECAST] + used, HOW - used,
                 "; temperatures corrected for height by %g K/km", o->lapse_rate);
  if (unknown > 0) {
    weir_warn("prepare",
              "%s: %lld of %lld stations have no altitude: their corrected temperatures are "
              "missing",
              w->cfg->import.grid.file, (long long)unknown, (long long)w->target.n_lon);
  }
  return WEIR_OK;
}

/* Height of the model's surface at the stations, with the weights of the forecasts: [stations]; the
 * caller frees it. */
static weir_status find_surface(const work *w, const wx_weights *weights, float **orography)
{
  const wx_cfg *const cfg = w->cfg;
  const wx_archive_info *const f = wx_archive_get(w->archive[FORECAST]);
  wx_invariants model = {.cells = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_lapse_check(&cfg->import.height, f, &w->target));
  if (cfg->data.invariants.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "import.height: temperatures at stations are corrected by the height of the "
                     "model's surface: give its file as data.invariants, or set "
                     "import.height.lapse_rate to 0");
  }
  WEIR_TRY_GOTO(wx_invariants_read(&cfg->data.invariants, &cfg->data.grib, &f->grid, NULL, &model),
                done);
  if (model.field[WX_OROGRAPHY] == NULL) {
    status = weir_fail(WEIR_ERR_DATA,
                       "data.invariants: %s: has no height of the surface, which import.height "
                       "needs: give a file that has, or set import.height.lapse_rate to 0",
                       cfg->data.invariants.items[0]);
    goto done;
  }
  WEIR_TRY_GOTO(weir_alloc(weights->n_to, sizeof **orography, (void **)orography), done);
  wx_weights_apply(weights, cfg->import.regrid.missing, model.field[WX_OROGRAPHY], *orography);
done:
  wx_invariants_fini(&model);
  return status;
}

/* Brings a side to the target grid, where it is on another one. */
static weir_status regrid_side(work *w, int side)
{
  static const char *const methods[] = {"bilinear interpolation", "the nearest cell",
                                        "first-order conservative means", "weights of a file"};
  const wx_regrid_opts *const o = &w->cfg->import.regrid;
  const wx_archive_info *const f = wx_archive_get(w->archive[side]);
  wx_weights weights = {.n = 0};
  const bool corrects = side == FORECAST && wx_lapse_applies(&w->cfg->import.height, f, &w->target);
  char grid[WX_LONG];
  float *orography = NULL;
  weir_status status = WEIR_OK;

  if (wx_grid_differs(&f->grid, &w->target) == NULL) {
    return WEIR_OK;
  }
  if (side == TRUTH && w->target.kind == WX_GRID_SITES) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.truth: %s is not at the stations of import.grid.file: give observations "
                     "at these stations, in the order of that file",
                     f->name);
  }
  WEIR_TRY(refuse_directions(f));
  wx_grid_text(&f->grid, grid, sizeof grid);
  WEIR_TRY_GOTO(wx_regrid_make(o, &f->grid, &w->target, &weights), done);
  const int64_t empty = wx_weights_empty(&weights);

  (void)snprintf(w->regridded[side], HOW,
                 "regridded from %s by %s; missing where more than %g of the weights are; %lld "
                 "of %lld cells lie outside",
                 grid, methods[o->method], o->missing, (long long)empty, (long long)weights.n_to);
  if (empty == weights.n_to) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "%s: no cell of import.grid lies in its grid (%s): set import.grid.area",
                       f->name, grid);
    goto done;
  }
  if (corrects) {
    WEIR_TRY_GOTO(find_surface(w, &weights, &orography), done);
  }
  WEIR_TRY_GOTO(wx_archive_regrid(w->archive[side], &w->target, o->missing, &weights), done);
  status = corrects ? correct_height(w, orography) : WEIR_OK;
done:
  weir_free(&orography);
  wx_weights_fini(&weights);
  return status;
}

static weir_status open_sides(work *w)
{
  wx_archive_in how = w->cfg->data.grib;

  how.regrid = wx_target_is_set(&w->cfg->import.grid);
  if (how.regrid) {
    WEIR_TRY(find_target(w));
  }
  for (int side = 0; side < SIDES; side++) {
    const weir_string_list *paths = paths_of(w->cfg, side);

    if (paths->count > 0) {
      WEIR_TRY((side == TRUTH ? wx_archive_open_truth : wx_archive_open_as)(
          paths->items, (int)paths->count, &how, &w->archive[side]));
    }
    if (paths->count > 0 && how.regrid) {
      WEIR_TRY(regrid_side(w, side));
    }
  }
  return w->cfg->data.invariants.count == 0
             ? WEIR_OK
             : wx_invariants_read(&w->cfg->data.invariants, &w->cfg->data.grib,
                                  &wx_archive_get(w->archive[FORECAST])->grid,
                                  &w->cfg->import.regrid, &w->invariants);
}

static weir_status import(work *w, weir_run_dir *dir)
{
  WEIR_TRY(open_sides(w));
  if (w->archive[TRUTH] != NULL) {
    const wx_archive_info *f = wx_archive_get(w->archive[FORECAST]);

    WEIR_TRY(weir_alloc(f->n_leads, sizeof *w->found, (void **)&w->found));
    WEIR_TRY(wx_inventory_pair(f, wx_archive_get(w->archive[TRUTH]), w->found));
  }
  WEIR_TRY(weir_run_dir_commit(dir));
  for (int side = 0; side < SIDES && w->archive[side] != NULL; side++) {
    const wx_archive_info *f = wx_archive_get(w->archive[side]);

    wx_print_archive(f, side_name[side]);
    if (w->regridded[side][0] != 0) {
      printf("#   %s\n", w->regridded[side]);
    }
    WEIR_TRY(take_side(w, side));
    const char **warned = NULL;

    WEIR_TRY(weir_alloc(f->n_quantities, sizeof *warned, (void **)&warned));
    print_survey(f, &w->survey[side], side == FORECAST ? w->found : NULL, warned);
    weir_free(&warned);
    weir_event("import", WEIR_TEXT("archive", side_name[side]), WEIR_INT("starts", f->n_init_times),
               WEIR_INT("leads", f->n_leads), WEIR_INT("quantities", f->n_quantities),
               WEIR_INT("members", f->n_members), WEIR_INT("absent", w->survey[side].absent));
  }
  WEIR_TRY(write_survey(w));
  WEIR_TRY(write_invariants(w));
  if (w->cfg->import.climate) {
    WEIR_TRY(write_climate(w));
  }
  return write_origin(w);
}

weir_status wx_prepare_import(const weir_cli *cli, const wx_cfg *cfg, weir_run_dir *dir)
{
  work w = {.cli = cli, .cfg = cfg};

  const weir_status status = import(&w, dir);

  for (int side = 0; side < SIDES; side++) {
    wx_inventory_fini(&w.survey[side]);
    wx_archive_close(&w.archive[side]);
  }
  wx_invariants_fini(&w.invariants);
  wx_archive_close(&w.like);
  weir_free(&w.lat);
  weir_free(&w.found);
  return status;
}

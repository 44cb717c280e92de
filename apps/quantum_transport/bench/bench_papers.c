/* bench_papers.c - see bench_papers.h. */
#include "bench/bench_papers.h"

#include "bench/bench_papers_priv.h"
#include "bench/bench_sample.h"
#include "model/rgf/rgf.h"
#include "model/scattering/volume.h"

const char *const qt_bench_papers_head[QT_BENCH_PAPERS_COLUMNS] = {
    "part", "quantity", "setting", "unit", "published", "formula", "here", "ratio"};

void papers_add_row(weir_table *c, const papers_row *r)
{
  const double of = isnan(r->published) ? r->formula : r->published;

  weir_table_add(c, "%s", r->section);
  weir_table_add(c, "%s", r->quantity);
  weir_table_add(c, "%s", r->setting);
  weir_table_add(c, "%s", r->unit);
  weir_table_add_real(c, r->published);
  weir_table_add_real(c, r->formula);
  weir_table_add_real(c, r->here);
  weir_table_add_real(c, r->here / of);
}

void papers_set(papers_row *r, const qt_recipe_sizes *s, int64_t ranks)
{
  const int n = snprintf(r->setting, sizeof r->setting, "%lld atoms, N_kz %lld",
                         (long long)s->n_atoms, (long long)s->n_k);

  if (ranks > 0) {
    (void)snprintf(r->setting + n, sizeof r->setting - (size_t)n, ", %lld ranks", (long long)ranks);
  }
}

/* ---- Flops and memory: counted, nothing is measured ---- */

enum { MAX_BLOCKS = 200 };

weir_status papers_point_flops(const qt_recipe_sizes *s, double *out)
{
  int64_t block[MAX_BLOCKS + 1];
  const int64_t n = qt_papers_blocks(s);
  qt_layout l;

  WEIR_ASSERT(n <= MAX_BLOCKS);
  for (int64_t b = 0; b <= n; b++) {
    block[b] = b * s->n_atoms * s->n_orbitals / n;
  }
  WEIR_TRY(qt_layout_create(n, block, &l));
  *out = qt_rgf_flops(&l, true, false);
  qt_layout_fini(&l);
  return WEIR_OK;
}

static weir_status add_flops(weir_table *c)
{
  const double peta = 1e-15;

  for (int i = 0; i < QT_PAPERS_ROWS; i++) {
    const qt_papers_row *p = &qt_papers_momenta[i];
    const qt_recipe_sizes s = qt_papers_device(p->n_k);
    const double points = (double)(s.n_k * s.n_energies);
    const double blocks = (double)qt_papers_blocks(&s);
    const double rows = (double)(s.n_atoms * s.n_orbitals) / blocks;
    papers_row r = {.section = "flops", .unit = "Pflop"};
    qt_recipe_count fission, window;
    double point = 0;

    papers_set(&r, &s, 0);
    WEIR_TRY(papers_point_flops(&s, &point));
    WEIR_TRY(qt_recipe_count_of(&s, QT_RECIPE_FISSIONED, QT_RECIPE_ELECTRONS, &fission));
    WEIR_TRY(qt_recipe_count_of(&s, QT_RECIPE_WINDOWED, QT_RECIPE_ELECTRONS, &window));
    r.quantity = "recursive Green's functions";
    r.published = p->recursion;
    r.formula = peta * points * qt_papers_recursion_flops(blocks, rows);
    r.here = peta * points * point;
    papers_add_row(c, &r);
    r.quantity = "self-energies of electrons, original; here: map fission";
    r.published = p->original;
    r.formula = peta * qt_papers_original_flops(&s);
    r.here = peta * fission.flops;
    papers_add_row(c, &r);
    r.quantity = "self-energies of electrons, restructured; here: windows";
    r.published = p->restructured;
    r.formula = peta * qt_papers_restructured_flops(&s);
    r.here = peta * window.flops;
    papers_add_row(c, &r);
  }
  return WEIR_OK;
}

/* All steps, of all atoms, and the arrays of one atom at a time. */
static weir_status add_steps(weir_table *c)
{
  static const char *const sums[] = {"self-energies of electrons", "of phonons"};
  const qt_recipe_sizes s = qt_papers_device(7);
  qt_recipe_sizes one = s;

  one.n_atoms = 1;
  one.n_others = s.n_neighbours;
  for (int i = 0; i < QT_RECIPE_STEPS * 2; i++) {
    const int sum = i / QT_RECIPE_STEPS, step = i % QT_RECIPE_STEPS;
    papers_row r = {.section = "steps", .published = NAN, .formula = NAN};
    qt_recipe_count all, atom;

    (void)snprintf(r.setting, sizeof r.setting, "%s, %s", sums[sum], qt_recipe_names[step]);
    WEIR_TRY(qt_recipe_count_of(&s, (qt_recipe_step)step, (qt_recipe_sum)sum, &all));
    WEIR_TRY(qt_recipe_count_of(&one, (qt_recipe_step)step, (qt_recipe_sum)sum, &atom));
    r.quantity = "flops";
    r.unit = "Pflop";
    r.here = 1e-15 * all.flops;
    papers_add_row(c, &r);
    r.quantity = "bytes read and written by loops";
    r.unit = "TB";
    r.here = 1e-12 * all.bytes;
    papers_add_row(c, &r);
    r.quantity = "arrays between loops, all atoms";
    r.here = 1e-12 * all.between;
    papers_add_row(c, &r);
    r.quantity = "arrays between loops, one atom at a time";
    r.unit = "GB";
    r.here = 1e-9 * atom.between;
    papers_add_row(c, &r);
  }
  return WEIR_OK;
}

/* Of lesser functions alone, as the formulas are; loops make both. */
static weir_status add_memory(weir_table *c)
{
  static const struct {
    qt_papers_array array;
    const char *unit;
    double scale;
  } of[] = {
      {QT_PAPERS_GREEN, "GB", 1e-9},    {QT_PAPERS_PHONON, "GB", 1e-9},
      {QT_PAPERS_FISSION, "PB", 1e-15}, {QT_PAPERS_HOISTED, "TB", 1e-12},
      {QT_PAPERS_PAIR, "MB", 1e-6},
  };
  const qt_recipe_sizes devices[] = {qt_papers_device(7), qt_papers_large()};

  for (size_t i = 0; i < 2 * sizeof of / sizeof *of; i++) {
    const int d = (int)(i % 2), at = (int)(i / 2);
    const qt_recipe_sizes *s = &devices[d];
    const bool fission = of[at].array == QT_PAPERS_FISSION;
    papers_row r = {.section = "memory",
                    .quantity = qt_papers_array_names[of[at].array],
                    .unit = of[at].unit,
                    .published = NAN,
                    .formula = of[at].scale * qt_papers_bytes(s, of[at].array),
                    .here = NAN};
    qt_recipe_sizes array_sizes = *s;
    qt_recipe_count counted;

    papers_set(&r, s, 0);
    if (of[at].array >= QT_PAPERS_FISSION) {
      array_sizes.n_others = of[at].array == QT_PAPERS_PAIR ? 1 : 0;
      array_sizes.n_atoms = of[at].array == QT_PAPERS_PAIR ? 1 : s->n_atoms;
      array_sizes.n_neighbours = of[at].array == QT_PAPERS_PAIR ? 1 : s->n_neighbours;
      WEIR_TRY(qt_recipe_count_of(&array_sizes, fission ? QT_RECIPE_FISSIONED : QT_RECIPE_HOISTED,
                                  QT_RECIPE_ELECTRONS, &counted));
      r.here = of[at].scale * counted.largest / 2;
    }
    papers_add_row(c, &r);
  }
  return WEIR_OK;
}

/* ---- Exchange ---- */

papers_volume papers_volume_of(const qt_recipe_sizes *s, int64_t ranks)
{
  const qt_volume_sizes n = {.n_k = (double)s->n_k,
                             .n_energies = (double)s->n_energies,
                             .n_frequencies = (double)s->n_frequencies,
                             .n_atoms = (double)s->n_atoms,
                             .n_neighbours = (double)s->n_neighbours,
                             .n_orbitals = (double)s->n_orbitals,
                             .n_directions = (double)s->n_directions};
  const qt_volume points = qt_volume_of_points(&n, (double)ranks);
  const qt_volume published = qt_volume_formula(&n, (double)ranks / (double)s->n_k, (double)s->n_k);
  papers_volume v = {.original = qt_volume_total(&points), .tiles = qt_volume_total(&published)};

  v.best = INFINITY;
  for (int64_t energies = 1; energies <= ranks; energies++) {
    const qt_volume one = qt_volume_formula(&n, (double)(ranks / energies), (double)energies);

    v.best = ranks % energies == 0 ? fmin(v.best, qt_volume_total(&one)) : v.best;
  }
  return v;
}

/* Published tiles are of N_kz ranges of energies; here is the minimum of all tiles. */
static void add_exchange(weir_table *c)
{
  const qt_papers_row *const tables[] = {qt_papers_momenta, qt_papers_ranks};

  for (int i = 0; i < 2 * QT_PAPERS_ROWS; i++) {
    const qt_papers_row *p = &tables[i / QT_PAPERS_ROWS][i % QT_PAPERS_ROWS];
    const qt_recipe_sizes s = qt_papers_device(p->n_k);
    const papers_volume v = papers_volume_of(&s, p->ranks);
    papers_row r = {.section = "exchange", .unit = "TiB", .here = NAN};

    papers_set(&r, &s, p->ranks);
    r.quantity = "original scheme";
    r.published = p->original_tib;
    r.formula = 0x1p-40 * v.original;
    papers_add_row(c, &r);
    r.quantity = "tiles of atoms and energies; here: tiles that exchange least";
    r.published = p->restructured_tib;
    r.formula = 0x1p-40 * v.tiles;
    r.here = 0x1p-40 * v.best;
    papers_add_row(c, &r);
  }
}

/* From the regions of a partition, to the byte, of a wire of few atoms; no rank is started. */
static weir_status add_regions(weir_table *c)
{
  static const int ranks[] = {3, 12, 48};
  const qt_recipe_sizes z = {.n_k = 3,
                             .n_energies = 48,
                             .n_frequencies = 6,
                             .n_atoms = 96,
                             .n_neighbours = 4,
                             .n_orbitals = 4,
                             .n_directions = 3};
  qt_neighbours list;
  weir_status status = WEIR_OK;

  WEIR_TRY(qt_bench_sample_list(&z, &list));
  const qt_self_energy_spec spec = qt_bench_sample_spec(&z, &list);

  for (size_t i = 0; i < 2 * sizeof ranks / sizeof *ranks && status == WEIR_OK; i++) {
    const bool original = i % 2 == 0;
    const int n = ranks[i / 2], atoms = original ? 1 : n / (int)z.n_k;
    const qt_volume_sizes sizes = qt_volume_sizes_of(&spec);
    qt_tiles t = qt_tiles_of(n, atoms, z.n_k, z.n_energies, z.n_frequencies);
    const qt_volume formula =
        original ? qt_volume_of_points(&sizes, n) : qt_volume_formula(&sizes, t.atoms, t.energies);
    papers_row r = {.section = "exchange",
                    .quantity = original ? "original scheme; here: regions, exactly"
                                         : "tiles of atoms and energies; here: regions, exactly",
                    .unit = "MB",
                    .published = NAN,
                    .formula = 1e-6 * qt_volume_total(&formula)};
    qt_volume v;

    papers_set(&r, &z, n);
    t.by_frequency = original;
    status = qt_volume_of_tiles(&spec, &t, &v);
    r.here = 1e-6 * qt_volume_total(&v);
    papers_add_row(c, &r);
  }
  qt_neighbours_fini(&list);
  return status;
}

weir_status qt_bench_papers(const qt_study *study, double recursion, weir_table *out)
{
  WEIR_TRY(add_flops(out));
  WEIR_TRY(add_steps(out));
  WEIR_TRY(add_memory(out));
  add_exchange(out);
  WEIR_TRY(add_regions(out));
  WEIR_TRY(papers_measure(study, recursion, out));
  return out->status;
}

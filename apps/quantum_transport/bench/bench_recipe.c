/* bench_recipe.c - see bench_recipe.h. */
#include "bench/bench_recipe.h"

#include <math.h>
#include <string.h>

#include "bench/bench_sample.h"

const char *const qt_bench_recipe_head[QT_BENCH_RECIPE_COLUMNS] = {
    "step",         "time_s",     "predicted_s", "gflop",     "model_gflop",      "gflop_per_s",
    "predicted_MB", "counted_MB", "model_MB",    "memory_MB", "model_between_MB", "difference"};

/* Sigma and t, whose atoms stand in dimension 3. */
static const qt_self_energy_array results[] = {QT_SIGMA, QT_EMISSION};
enum { RESULTS = sizeof results / sizeof *results };

typedef struct recipe {
  qt_scatter scatter;
  qt_neighbours list;
  qt_recipe_sizes sizes; /* of the atoms that are run */
  qt_self_energy_spec spec;
  weir_tensor t[QT_SELF_ENERGY_ARRAYS];
  weir_tensor written[RESULTS]; /* the results of the first step */
  qt_self_energy plan;
  int64_t n_ranges; /* that a run goes through */
} recipe;

static void recipe_fini(recipe *r)
{
  qt_self_energy_fini(&r->plan);
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&r->t[i]);
  }
  for (int i = 0; i < RESULTS; i++) {
    weir_tensor_fini(&r->written[i]);
  }
  qt_neighbours_fini(&r->list);
  qt_scatter_fini(&r->scatter);
}

static weir_status prepare(const qt_study *study, recipe *r)
{
  const qt_cfg *cfg = study->cfg;
  const int64_t atoms = cfg->bench.recipe_atoms;

  WEIR_TRY(qt_scatter_open(study, 1, &r->scatter));
  WEIR_TRY(qt_bench_sample_device(study, &r->scatter, &r->list, &r->sizes));
  r->spec = qt_bench_sample_spec(&r->sizes, &r->list);
  r->spec.retarded = (qt_retarded)cfg->scattering.retarded;
  r->spec.phonons = cfg->scattering.phonons.state == QT_PHONONS_COUPLED;
  r->sizes.n_atoms = atoms < r->list.n_atoms ? atoms : r->list.n_atoms;
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = qt_self_energy_desc(&r->spec, (qt_self_energy_array)i);

    WEIR_TRY(weir_tensor_init(&r->t[i], d.dtype, d.rank, d.shape));
    if (i < QT_SIGMA) {
      qt_bench_sample_fill(weir_tensor_numel(&r->t[i]), r->t[i].data);
    }
  }
  return WEIR_OK;
}

static weir_status run(void *context)
{
  recipe *r = context;

  for (int64_t i = 0; i < r->n_ranges; i++) {
    WEIR_TRY(qt_self_energy_run_range(&r->plan, i, r->t));
  }
  return WEIR_OK;
}

/* What a step took, and what is counted of its graph. */
typedef struct account {
  double seconds, predicted_s, flops, predicted, counted, memory, difference;
  qt_recipe_count model;
} account;

static void add_reports(const recipe *r, account *a)
{
  const weir_plan *p = r->plan.plan;
  const double times = (double)r->n_ranges;

  for (int32_t k = 0; k < weir_plan_groups(p); k++) {
    const weir_group_report g = weir_plan_group(p, k);

    a->predicted_s += g.predicted_s * times;
    a->flops += g.flops * times;
    a->predicted += g.bytes * times;
    a->counted += g.counted_bytes * times;
  }
  a->memory = (double)weir_plan_memory_bytes(p);
}

/* Both sums, of all ranges; arrays between loops are those of one. */
static weir_status count(const recipe *r, int64_t at_once, qt_recipe_step step, account *a)
{
  const double times = (double)r->n_ranges;
  qt_recipe_sizes s = r->sizes;

  s.n_atoms = at_once;
  s.n_others = r->plan.range.n_local - at_once;
  for (int sum = 0; sum < (r->spec.phonons ? 2 : 1); sum++) {
    qt_recipe_count c;

    WEIR_TRY(qt_recipe_count_of(&s, step, (qt_recipe_sum)sum, &c));
    a->model.flops += c.flops * times;
    a->model.bytes += c.bytes * times;
    a->model.between += c.between;
  }
  return WEIR_OK;
}

/* The largest difference of a result from that as written, of the largest element. */
static double difference_of(const recipe *r)
{
  double max = 0;

  for (int i = 0; i < RESULTS; i++) {
    const weir_c128 *x = r->t[results[i]].data, *y = r->written[i].data;
    double apart = 0, largest = 0;

    for (int64_t n = 0; n < weir_tensor_numel(&r->written[i]); n++) {
      apart = fmax(apart, hypot(x[n].re - y[n].re, x[n].im - y[n].im));
      largest = fmax(largest, hypot(y[n].re, y[n].im));
    }
    max = largest > 0 ? fmax(max, apart / largest) : max;
  }
  return max;
}

/* Keeps the results of the first step; of others, of which only atoms that are run have changed,
 * what they differ by. */
static weir_status compare(recipe *r, const char *name, double *difference)
{
  const double rounding = 1e-12;

  if (r->written[0].data == NULL) {
    for (int i = 0; i < RESULTS; i++) {
      const weir_tensor *t = &r->t[results[i]];

      WEIR_TRY(weir_tensor_init(&r->written[i], t->dtype, t->rank, t->shape));
      memcpy(r->written[i].data, t->data, (size_t)weir_tensor_numel(t) * sizeof(weir_c128));
    }
  }
  *difference = difference_of(r);
  return *difference <= rounding
             ? WEIR_OK
             : weir_fail(WEIR_ERR_NUMERIC, "bench.recipe: self-energies of '%s' differ by %.3g",
                         name, *difference);
}

/* Timed first, then once more with its bytes counted. */
static weir_status measure(const qt_study *study, recipe *r, const qt_recipe_plan *plan,
                           int64_t at_once, account *a)
{
  const double enough = 1; /* s: longer runs are not repeated */

  r->spec.plan = plan;
  r->n_ranges = r->sizes.n_atoms / at_once;
  for (int explain = 0; explain < 2; explain++) {
    r->spec.explain = explain == 1;
    qt_self_energy_fini(&r->plan);
    WEIR_TRY(qt_self_energy_create_ranges(&r->spec, at_once, &r->plan));
    if (explain == 0) {
      WEIR_TRY(qt_bench_seconds(run, r, study->cfg->bench.repeats, enough, &a->seconds));
    } else {
      WEIR_TRY(run(r));
    }
  }
  add_reports(r, a);
  WEIR_TRY(count(r, at_once, plan->step, a));
  return compare(r, plan->name, &a->difference);
}

static void add_row(const char *name, const account *a, weir_table *out)
{
  const double giga = 1e-9, mega = 1e-6;

  weir_table_add(out, "%s", name);
  weir_table_add_real(out, a->seconds);
  weir_table_add_real(out, a->predicted_s);
  weir_table_add_real(out, giga * a->flops);
  weir_table_add_real(out, giga * a->model.flops);
  weir_table_add_real(out, giga * a->flops / a->seconds);
  weir_table_add_real(out, mega * a->predicted);
  weir_table_add_real(out, mega * a->counted);
  weir_table_add_real(out, mega * a->model.bytes);
  weir_table_add_real(out, mega * a->memory);
  weir_table_add_real(out, mega * a->model.between);
  weir_table_add_real(out, a->difference);
}

/* The stages, and the loops of one with one atom after the other: fusion over atoms. */
static weir_status add_rows(const qt_study *study, recipe *r, weir_table *out)
{
  const qt_recipe_plan *fused = &qt_recipe_plans[QT_RECIPE_STAGE_FUSED];
  account one = {.seconds = 0};

  for (int k = 0; k < QT_RECIPE_STAGES; k++) {
    account a = {.seconds = 0};

    WEIR_TRY(measure(study, r, &qt_recipe_plans[k], r->sizes.n_atoms, &a));
    add_row(qt_recipe_plans[k].name, &a, out);
  }
  WEIR_TRY(measure(study, r, fused, 1, &one));
  add_row("fusion and tiling, atom by atom", &one, out);
  return out->status;
}

weir_status qt_bench_recipe(const qt_study *study, weir_table *out)
{
  recipe r = {.n_ranges = 0};
  weir_status status = WEIR_OK;

  if (study->cfg->scattering.kind == QT_SCATTERING_NONE) {
    return weir_fail(WEIR_ERR_CONFIG, "bench.recipe: the device has no self-energies of scattering:"
                                      " set scattering.kind=born, as in heating.yaml");
  }
  WEIR_TRY_GOTO(prepare(study, &r), done);
  status = add_rows(study, &r, out);
done:
  recipe_fini(&r);
  return status;
}

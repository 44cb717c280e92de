/* bench_sample.c - see bench_sample.h. */
#include "bench/bench_sample.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_sort.h"

double qt_bench_processor(void)
{
  return (double)clock() / (double)CLOCKS_PER_SEC;
}

qt_bench_clock qt_bench_clock_now(void)
{
  return (qt_bench_clock){.elapsed = weir_clock(), .processor = qt_bench_processor()};
}

double qt_bench_clock_share(const qt_bench_clock *began)
{
  const qt_bench_clock now = qt_bench_clock_now();
  const double share = (now.processor - began->processor) / (now.elapsed - began->elapsed);

  return share > 0 && share < 1 ? share : 1;
}

/* A device under way. */
typedef struct sample {
  qt_neighbours list;
  qt_self_energy plan;
  weir_tensor t[QT_SELF_ENERGY_ARRAYS];
} sample;

static void sample_fini(sample *s)
{
  qt_self_energy_fini(&s->plan);
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&s->t[i]);
  }
  qt_neighbours_fini(&s->list);
}

int64_t qt_bench_sample_atoms(int64_t n_neighbours)
{
  return 2 * n_neighbours;
}

void qt_bench_sample_fill(int64_t n, weir_c128 *x)
{
  for (int64_t i = 0; i < n; i++) {
    x[i] = (weir_c128){1e-2 * (double)(i % 17 - 8), 1e-2 * (double)(i % 13 - 6)};
  }
}

/* Atoms along a wire that is closed to a ring: even ones have the next odd ones as neighbours,
 * which have them in turn. */
static weir_status make_list(const qt_recipe_sizes *z, qt_neighbours *out)
{
  const int64_t n = z->n_atoms, width = z->n_neighbours, pairs = n * width;
  const int64_t block = z->n_directions * z->n_orbitals * z->n_orbitals;

  *out = (qt_neighbours){.n_atoms = n,
                         .n_neighbours = width,
                         .n_orbitals = z->n_orbitals,
                         .n_directions = z->n_directions};
  WEIR_TRY(weir_alloc(pairs, sizeof *out->atom, (void **)&out->atom));
  WEIR_TRY(weir_alloc(pairs, sizeof *out->reverse, (void **)&out->reverse));
  WEIR_TRY(weir_alloc(pairs, sizeof *out->image, (void **)&out->image));
  WEIR_TRY(weir_alloc(pairs * block, sizeof *out->gradient, (void **)&out->gradient));
  for (int64_t p = 0; p < pairs; p++) {
    const int64_t a = p / width, b = p % width, there = 1 + 2 * b;
    const int64_t l = (a % 2 == 0 ? a + there : a - there + n) % n;

    out->atom[p] = (int32_t)l;
    out->reverse[p] = (int32_t)(l * width + b);
  }
  qt_bench_sample_fill(pairs * block, out->gradient);
  return WEIR_OK;
}

weir_status qt_bench_sample_list(const qt_recipe_sizes *z, qt_neighbours *out)
{
  const weir_status status = make_list(z, out);

  if (status != WEIR_OK) {
    qt_neighbours_fini(out);
  }
  return status;
}

qt_self_energy_spec qt_bench_sample_spec(const qt_recipe_sizes *z, const qt_neighbours *list)
{
  return (qt_self_energy_spec){.neighbours = list,
                               .n_k = z->n_k,
                               .n_energies = z->n_energies,
                               .n_frequencies = z->n_frequencies,
                               .step = 1e-3,
                               .spin = 2,
                               .retarded = QT_RETARDED_HALF,
                               .phonons = true,
                               .threads = 1};
}

weir_status qt_bench_sample_device(const qt_study *study, const qt_scatter *scatter,
                                   qt_neighbours *list, qt_recipe_sizes *sizes)
{
  WEIR_TRY(qt_neighbours_create(&study->system, &scatter->gradient,
                                scatter->phonons.atom[0].n_orbitals, list));
  *sizes = (qt_recipe_sizes){.n_k = study->n_k,
                             .n_energies = study->n_energies,
                             .n_frequencies = study->cfg->scattering.phonons.frequencies,
                             .n_atoms = list->n_atoms,
                             .n_neighbours = list->n_neighbours,
                             .n_orbitals = list->n_orbitals,
                             .n_directions = list->n_directions};
  return WEIR_OK;
}

static weir_status prepare(const qt_bench_sample *b, sample *s)
{
  WEIR_TRY(qt_bench_sample_list(&b->sizes, &s->list));
  qt_self_energy_spec spec = qt_bench_sample_spec(&b->sizes, &s->list);

  spec.fission = b->fission;
  spec.window = b->window;
  spec.memory = b->memory;

  WEIR_TRY(qt_self_energy_create(&spec, &s->plan));
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = qt_self_energy_desc(&spec, (qt_self_energy_array)i);

    WEIR_TRY(weir_tensor_init(&s->t[i], d.dtype, d.rank, d.shape));
    qt_bench_sample_fill(weir_tensor_numel(&s->t[i]), s->t[i].data);
  }
  return WEIR_OK;
}

/* Of one run. */
static weir_status time_once(weir_status (*run)(void *), void *context, double *seconds)
{
  const qt_bench_clock began = qt_bench_clock_now();

  WEIR_TRY(run(context));
  const double elapsed = weir_clock() - began.elapsed;

  *seconds = elapsed * qt_bench_clock_share(&began);
  return WEIR_OK;
}

weir_status qt_bench_seconds(weir_status (*run)(void *), void *context, int64_t repeats,
                             double enough, double *seconds)
{
  double *each = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(time_once(run, context, seconds));
  if (*seconds > enough) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(repeats, sizeof *each, (void **)&each));
  for (int64_t i = 0; i < repeats && status == WEIR_OK; i++) {
    status = time_once(run, context, &each[i]);
  }
  qsort(each, (size_t)repeats, sizeof *each, weir_compare_f64);
  *seconds = each[repeats / 2];
  weir_free(&each);
  return status;
}

static weir_status run_sample(void *context)
{
  sample *s = context;

  return qt_self_energy_run(&s->plan, s->t);
}

weir_status qt_bench_sample_time(const qt_bench_sample *b, double *seconds, double *flops)
{
  sample s = {.list = {.n_atoms = 0}};
  qt_self_energy_size size;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(prepare(b, &s), done);
  WEIR_TRY_GOTO(qt_self_energy_size_of(&s.plan.spec, &size), done);
  WEIR_TRY_GOTO(qt_bench_seconds(run_sample, &s, b->repeats, INFINITY, seconds), done);
  *flops = size.flops;
done:
  sample_fini(&s);
  return status;
}

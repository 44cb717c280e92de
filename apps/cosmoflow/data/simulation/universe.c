/* universe.c - see universe.h. */
#include "data/simulation/universe.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "data/simulation/universe_priv.h"

enum { FIELDS = 9, DENSITY = 2, POSITIONS = 3, MOMENTA = 6 };
enum { PHASES = 2, TRACERS = 3 }; /* purposes of a seed */

struct cf_generator_workspace {
  const cf_generator *g;
  float *field[FIELDS]; /* delta, source, density; positions; with pm, momenta */
  float *count;         /* density on the mesh of the output, where it is another one */
};

static weir_status make_meshes(cf_generator *g)
{
  WEIR_TRY(cf_mesh_create_shared(g->particles, g->comm, &g->lattice));
  if (g->opts->side != g->particles) {
    WEIR_TRY(cf_mesh_create_shared(g->opts->side, g->comm, &g->cells));
  }
  return WEIR_OK;
}

weir_status cf_generator_create(const cf_universe_opts *opts, uint64_t seed, cf_generator **out)
{
  return cf_generator_create_shared(opts, seed, NULL, out);
}

weir_status cf_generator_create_shared(const cf_universe_opts *opts, uint64_t seed, weir_comm *comm,
                                       cf_generator **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(cf_generator), &memory));
  cf_generator *g = memory;

  g->opts = opts;
  g->seed = seed;
  g->comm = comm != NULL && weir_comm_size(comm) > 1 ? comm : NULL;
  weir_status status = cf_universe_check(opts, &g->facts);

  if (status == WEIR_OK) {
    g->particles = cf_universe_particles(opts);
    status = make_meshes(g);
  }
  if (status != WEIR_OK) {
    cf_generator_destroy(&g);
    return status;
  }
  *out = g;
  return WEIR_OK;
}

void cf_generator_destroy(cf_generator **g)
{
  if (*g == NULL) {
    return;
  }
  cf_mesh_destroy(&(*g)->lattice);
  cf_mesh_destroy(&(*g)->cells);
  weir_free(g);
}

const cf_universe_facts *cf_generator_facts(const cf_generator *g)
{
  return &g->facts;
}

static weir_status take_fields(cf_generator_workspace *r)
{
  const int fields = r->g->opts->method == CF_METHOD_PM ? FIELDS : MOMENTA;

  for (int i = 0; i < fields; i++) {
    WEIR_TRY(cf_mesh_field(r->g->lattice, &r->field[i]));
  }
  return r->g->cells != NULL ? cf_mesh_field(r->g->cells, &r->count) : WEIR_OK;
}

weir_status cf_generator_workspace_create(const cf_generator *g, cf_generator_workspace **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(cf_generator_workspace), &memory));
  cf_generator_workspace *r = memory;

  r->g = g;
  const weir_status status = take_fields(r);

  if (status != WEIR_OK) {
    cf_generator_workspace_destroy(&r);
    return status;
  }
  *out = r;
  return WEIR_OK;
}

void cf_generator_workspace_destroy(cf_generator_workspace **r)
{
  if (*r == NULL) {
    return;
  }
  for (int i = 0; i < FIELDS; i++) {
    weir_free(&(*r)->field[i]);
  }
  weir_free(&(*r)->count);
  weir_free(r);
}

/* One universe on its way. */
typedef struct course {
  const cf_generator *g;
  cf_generator_workspace *r;
  cf_linear linear;
  cf_particles p;
  double a; /* of the particles, with pm */
  char *out;
} course;

/* Moves the particles to a. With pm, a grows from call to call. */
static void go_to(course *c, double a)
{
  const cf_mesh *const m = c->g->lattice;
  float **const f = c->r->field;

  if (c->g->opts->method != CF_METHOD_PM) {
    cf_lpt_displace(m, f[0], c->g->opts->method == CF_METHOD_2LPT ? f[1] : NULL,
                    cf_linear_growth(&c->linear, a), cf_linear_growth2(&c->linear, a), c->p.d);
    return;
  }
  if (c->a < a) { /* once begun, the linear field is not needed again */
    const double share = (a - c->a) / (1 - c->g->opts->start);
    const int64_t steps = (int64_t)ceil(share * (double)c->g->opts->steps - 1e-9);

    cf_pm_go(m, &c->linear, c->a, a, steps < 1 ? 1 : steps, &c->p, f + MOMENTA, f);
    c->a = a;
  }
}

static const cf_mesh *cells_of(const cf_generator *g)
{
  return g->cells != NULL ? g->cells : g->lattice;
}

/* Copies a row of z of the mesh into the boxes that it runs through. */
static bool store_row(const course *c, int64_t x, int64_t y, int64_t channel, const float *row)
{
  const cf_universe_opts *const o = c->g->opts;
  const cf_universe_facts *const f = &c->g->facts;
  const int64_t side = f->side, along = o->side / side;
  const cf_range slab = cf_mesh_slab(cells_of(c->g));
  const int64_t layer = x / side - slab.first / side;
  bool holds = true;

  for (int64_t k = 0; k < along; k++) {
    const cf_universe_box box =
        cf_universe_box_of(o, f, slab, (layer * along + y / side) * along + k);
    const int64_t cell = box.at + ((x % side - box.x) * side + y % side) * side;

    for (int64_t z = 0; z < side; z++) {
      const float value = row[k * side + z];
      const int64_t at = (cell + z) * f->channels + channel;

      if (f->dtype == WEIR_F32) {
        ((float *)c->out)[at] = value;
      } else {
        holds = holds && value <= INT16_MAX;
        ((int16_t *)c->out)[at] = (int16_t)(value <= INT16_MAX ? value : INT16_MAX);
      }
    }
  }
  return holds;
}

/* Returns the particles in redshift space along an axis: of displacements d = D psi1 + D2 psi2, v /
 * (a H) = dd/dlna = f1 D psi1 + f2 D2 psi2. With pm the fields of the force are free. */
static cf_particles in_redshift_space(const course *c, double a, int axis)
{
  float **const f = c->r->field;
  cf_particles p = c->p;

  if (c->g->opts->method == CF_METHOD_PM) {
    p.d[axis] = f[0];
    cf_pm_redshift(&c->linear, a, &c->p, axis, f[MOMENTA + axis], p.d[axis]);
  } else {
    const cf_linear *const l = &c->linear;

    cf_lpt_displace_axis(c->g->lattice, f[0], c->g->opts->method == CF_METHOD_2LPT ? f[1] : NULL,
                         cf_linear_growth(l, a) * (1 + cf_linear_growth_rate(l, a)),
                         cf_linear_growth2(l, a) * (1 + cf_linear_growth2_rate(l, a)), axis,
                         p.d[axis]);
  }
  return p;
}

/* Makes what is observed of the density. */
static void observe(const course *c, const cf_mesh *m, int64_t universe, int64_t channel,
                    float *density)
{
  const cf_universe_opts *const o = c->g->opts;
  const double cell = o->box / (double)o->side;

  if (o->feedback.mass > 0) {
    cf_feedback_apply(&o->feedback, m, o->box, o->redshifts.items[channel], density);
  }
  if (o->tracers > 0) {
    cf_tracers_draw(m, o->tracers * cell * cell * cell,
                    weir_random_bits(c->g->seed, TRACERS, (uint32_t)channel, (uint64_t)universe),
                    density);
  }
}

/* Fails on all ranks of the universe where it does on one. */
static weir_status agree(const cf_generator *g, weir_status status)
{
  return g->comm != NULL ? weir_comm_agree(g->comm, status) : status;
}

static weir_status check_motion(const cf_particles *p, int64_t universe)
{
  return cf_particles_sound(p)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_NUMERIC, "simulate: universe %lld: a displacement is NaN",
                         (long long)universe);
}

static weir_status count(const course *c, const cf_particles *p, int64_t universe, int64_t channel)
{
  const cf_mesh *const m = cells_of(c->g);
  float *const density = c->g->cells != NULL ? c->r->count : c->r->field[DENSITY];
  const int64_t n = cf_mesh_side(m);
  const cf_range slab = cf_mesh_slab(m);
  bool holds = true;

  WEIR_TRY(agree(c->g, check_motion(p, universe)));
  cf_particles_deposit(p, c->g->opts->counts == CF_COUNTS_NGP ? CF_NGP : CF_CIC, m, density);
  observe(c, m, universe, channel, density);
  for (int64_t row = 0; row < slab.count * n; row++) {
    holds =
        store_row(c, slab.first + row / n, row % n, channel, density + row * cf_mesh_pitch(m)) &&
        holds;
  }
  if (!holds) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "simulate: universe %lld: a cell has more particles than i16 holds; set "
                     "simulate.values=f32",
                     (long long)universe);
  }
  return WEIR_OK;
}

/* The channel that comes after channel `after` in time (-1: the first of all); -1: none. */
static int64_t next_channel(const weir_real_list *z, int64_t after)
{
  int64_t next = -1;

  for (int64_t c = 0; c < z->count; c++) {
    const bool later =
        after < 0 || z->items[c] < z->items[after] || (z->items[c] == z->items[after] && c > after);

    if (later && (next < 0 || z->items[c] > z->items[next])) {
      next = c;
    }
  }
  return next;
}

static weir_status check_stop(int64_t universe)
{
  return weir_stop_requested()
             ? weir_fail(WEIR_ERR_STOPPED, "simulate: stopped within universe %lld",
                         (long long)universe)
             : WEIR_OK;
}

weir_status cf_generator_make(const cf_generator *g, cf_generator_workspace *r, int64_t universe,
                              void *out)
{
  const weir_real_list *const z = &g->opts->redshifts;
  float **const f = r->field;
  course c = {.g = g, .r = r, .a = g->opts->start, .out = out};
  double unit[CF_PARAMETERS];
  cf_cosmology cosmology;

  c.p = (cf_particles){g->lattice, {f[POSITIONS], f[POSITIONS + 1], f[POSITIONS + 2]}};
  cf_generator_draw(g, universe, &cosmology, unit);
  WEIR_TRY(cf_linear_init(&cosmology, (cf_transfer)g->opts->transfer, &c.linear));
  WEIR_TRY(cf_field_draw(g->lattice, &c.linear, g->opts->box,
                         weir_random_bits(g->seed, PHASES, 0, (uint64_t)universe), g->opts->fixed,
                         f[0]));
  if (g->opts->method != CF_METHOD_1LPT) {
    cf_lpt_source(g->lattice, f[0], f[1], f + POSITIONS);
  }
  if (g->opts->method == CF_METHOD_PM) {
    cf_pm_begin(g->lattice, &c.linear, f[0], f[1], c.a, &c.p, f + MOMENTA);
  }
  for (int64_t channel = next_channel(z, -1); channel >= 0; channel = next_channel(z, channel)) {
    WEIR_TRY(agree(g, check_stop(universe)));
    const double a = 1 / (1 + z->items[channel]);

    go_to(&c, a);
    const cf_particles p = g->opts->line_of_sight == CF_SIGHT_NONE
                               ? c.p
                               : in_redshift_space(&c, a, g->opts->line_of_sight - CF_SIGHT_X);

    WEIR_TRY(agree(g, count(&c, &p, universe, channel)));
  }
  return WEIR_OK;
}

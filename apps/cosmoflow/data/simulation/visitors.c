/* visitors.c - see visitors.h. */
#include "data/simulation/visitors.h"
#include "base/weir_alloc.h"

typedef void visit(void *context, int rank, int64_t site, const float position[3]);

/* Calls f for every particle and other rank that it visits, in the order of the lattice. */
static void walk(const cf_visitors *v, visit *f, void *context)
{
  const int64_t n = cf_mesh_side(v->p->lattice), pitch = cf_mesh_pitch(v->p->lattice);
  const int64_t rows = cf_mesh_slab(v->p->lattice).count * n, side = cf_mesh_side(v->m);
  const int own = weir_comm_rank(cf_mesh_comm(v->m));
  float position[3][CF_STRIP];
  cf_cell_pos x;

  for (int64_t row = 0; row < rows; row++) {
    for (int64_t z = 0; z < n; z += CF_STRIP) {
      const int64_t now = n - z < CF_STRIP ? n - z : CF_STRIP;

      cf_positions(v->p, side, v->shift, row / n, row % n, z, now, position);
      cf_locate(position[0], side, now, &x);
      for (int64_t i = 0; i < now; i++) {
        const int64_t next = x.at[i] + 1 < side ? x.at[i] + 1 : 0, site = row * pitch + z + i;
        const float at[3] = {position[0][i], position[1][i], position[2][i]};
        const int here = v->owner[x.at[i]], there = v->owner[next];

        if (here != own) {
          f(context, here, site, at);
        }
        if (v->spread && there != own && there != here) {
          f(context, there, site, at);
        }
      }
    }
  }
}

static void count_one(void *context, int rank, int64_t site, const float position[3])
{
  (void)site;
  (void)position;
  ((cf_visitors *)context)->sent[rank]++;
}

static void pack_one(void *context, int rank, int64_t site, const float position[3])
{
  cf_visitors *const v = context;

  (void)site;
  v->out[v->next[rank]++] = (cf_triple){{position[0], position[1], position[2]}};
}

/* Sets next to the first visitor of each rank; returns their number. */
static int64_t rewind_to(int ranks, const int64_t *count, int64_t *next)
{
  int64_t sum = 0;

  for (int r = 0; r < ranks; r++) {
    next[r] = sum;
    sum += count[r];
  }
  return sum;
}

static void list(const cf_visitors *v, int ranks)
{
  int64_t to = 0, from = 0;

  for (int r = 0; r < ranks; r++) {
    v->buffers[r] = (cf_buffer){v->out + to, v->sent[r] * (int64_t)sizeof *v->out};
    v->buffers[ranks + r] = (cf_buffer){v->in + from, v->come[r] * (int64_t)sizeof *v->in};
    to += v->sent[r];
    from += v->come[r];
  }
}

static weir_status alloc_tables(cf_visitors *v, int ranks)
{
  const int64_t side = cf_mesh_side(v->m);

  WEIR_TRY(weir_alloc(side, sizeof *v->owner, (void **)&v->owner));
  WEIR_TRY(weir_alloc(ranks, sizeof *v->sent, (void **)&v->sent));
  WEIR_TRY(weir_alloc(ranks, sizeof *v->come, (void **)&v->come));
  WEIR_TRY(weir_alloc(ranks, sizeof *v->next, (void **)&v->next));
  WEIR_TRY(weir_alloc(2 * (int64_t)ranks, sizeof *v->buffers, (void **)&v->buffers));
  for (int64_t plane = 0; plane < side; plane++) {
    v->owner[plane] = cf_slab_owner(side, ranks, plane);
  }
  return WEIR_OK;
}

static weir_status send(cf_visitors *v)
{
  weir_comm *const comm = cf_mesh_comm(v->m);
  const int ranks = weir_comm_size(comm);

  WEIR_TRY(alloc_tables(v, ranks));
  walk(v, count_one, v);
  cf_slabs_announce(comm, v->sent, v->come);
  WEIR_TRY(weir_alloc(rewind_to(ranks, v->come, v->next), sizeof *v->in, (void **)&v->in));
  WEIR_TRY(weir_alloc(rewind_to(ranks, v->sent, v->next), sizeof *v->out, (void **)&v->out));
  walk(v, pack_one, v);
  list(v, ranks);
  cf_slabs_exchange(comm, v->buffers, v->buffers + ranks);
  return WEIR_OK;
}

void cf_visitors_send(const cf_particles *p, const cf_mesh *m, float shift, bool spread,
                      cf_visitors *out)
{
  *out = (cf_visitors){.p = p, .m = m, .shift = shift, .spread = spread};
  const weir_status status = send(out);

  if (status != WEIR_OK) {
    (void)weir_comm_abort(cf_mesh_comm(m), status);
  }
}

cf_triple *cf_visitors_from(const cf_visitors *v, int r)
{
  return v->buffers[weir_comm_size(cf_mesh_comm(v->m)) + r].data;
}

void cf_visitors_answer(cf_visitors *v)
{
  weir_comm *const comm = cf_mesh_comm(v->m);

  cf_slabs_exchange(comm, v->buffers + weir_comm_size(comm), v->buffers);
}

/* Of cf_visitors_each. */
typedef struct each {
  cf_visitors *v;
  void *context;
  void (*use)(void *context, int64_t site, cf_triple *visitor);
} each;

static void use_one(void *context, int rank, int64_t site, const float position[3])
{
  const each *const e = context;

  (void)position;
  e->use(e->context, site, &e->v->out[e->v->next[rank]++]);
}

void cf_visitors_each(cf_visitors *v, void *context,
                      void (*use)(void *context, int64_t site, cf_triple *visitor))
{
  each e = {v, context, use};

  (void)rewind_to(weir_comm_size(cf_mesh_comm(v->m)), v->sent, v->next);
  walk(v, use_one, &e);
}

void cf_visitors_fini(cf_visitors *v)
{
  weir_free(&v->owner);
  weir_free(&v->sent);
  weir_free(&v->come);
  weir_free(&v->next);
  weir_free(&v->out);
  weir_free(&v->in);
  weir_free(&v->buffers);
}

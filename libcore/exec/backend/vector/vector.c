/* vector.c - the vector interpreter as an engine, and loops without monoid or state. */
#include "exec/backend/planar.h"
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

static void release(void *context)
{
  vm_program_free(context);
}

static weir_status prepare_one(const weir_loop *loop, const weir_engine_opts *opts, void **out)
{
  vm_program *p = NULL;

  *out = NULL;
  WEIR_TRY(vm_compile(&loop->access, opts->threads, &p));
  *out = p;
  return WEIR_OK;
}

static weir_status prepare(const weir_loop *const *loops, int32_t n, const weir_engine_opts *opts,
                           void **contexts)
{
  WEIR_TRY(exec_prepare_each(loops, n, opts, prepare_one, release, contexts));
  return WEIR_OK;
}

/* One strip of a map: n elements from i on. */
static void run_strip(vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;

  if (!vm_strip_load(f, i, n)) {
    for (int k = 0; k < p->n_data; k++) {
      vm_strip_store(f, k, f->block + p->regs[p->value[k]].offset, i, n);
    }
    return;
  }
  for (int k = 0; k < p->n_data; k++) {
    if (p->direct[k]) {
      void *at = vm_direct(f, k, i, n);
      f->ptr[p->value[k]] = at != NULL ? at : f->block + p->regs[p->value[k]].offset;
    }
  }
  vm_strip_run(f, 0, p->n_instrs, n);
  for (int k = 0; k < p->n_data; k++) {
    vm_strip_store(f, k, f->ptr[p->value[k]], i, n);
  }
}

static void run_map(vm_frame *f)
{
  const weir_access *a = &f->p->access;
  const weir_box *box = &f->run->box;
  uint32_t mask = exec_mask(a, WEIR_PARALLEL);

  f->vec = vm_choose_vec(f, mask);
  const bool rows = f->vec < a->n_dims;
  const int64_t lo = rows ? box->lo[f->vec] : 0, hi = rows ? box->hi[f->vec] : 1;
  mask &= rows ? ~(1u << f->vec) : ~0u;
  exec_first(a, box, f->iteration);
  do {
    vm_row_begin(f, lo, hi);
    for (int64_t i = lo, end; i < hi; i = end) {
      end = vm_strip_end(f, i);
      run_strip(f, i, end - i);
    }
  } while (exec_next(a, box, mask, f->iteration));
}

static void run(void *context, const weir_loop_run *what)
{
  vm_program *p = context;
  const weir_access *a = &p->access;
  vm_frame f = {.p = p, .run = what};

  if (!exec_has_points(a, &what->box)) {
    return;
  }
  f.block = exec_pool_take(&p->pool);
  vm_frame_setup(&f);
  if (a->combine != WEIR_COMBINE_NONE) {
    vm_reduce(&f);
  } else if (exec_has(a, WEIR_FORWARD)) {
    vm_scan(&f);
  } else {
    run_map(&f);
  }
  exec_pool_give(&p->pool, f.block);
}

/* Of loops of real numbers. */
static const weir_engine real = {.prepare = prepare, .run = run, .release = release};

static weir_status prepare_any(const weir_loop *const *loops, int32_t n,
                               const weir_engine_opts *opts, void **contexts)
{
  return planar_prepare(&real, loops, n, opts, contexts);
}

const weir_engine weir_engine_vector = {.name = "vector",
                                        .tier = WEIR_TIER_VECTOR,
                                        .prepare = prepare_any,
                                        .run = planar_run,
                                        .release = planar_release};

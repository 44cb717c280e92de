/* powersgd.c - PowerSGD, Vogels, Karimireddy and Jaggi, "PowerSGD: practical low-rank gradient
 * compression for distributed optimization" (NeurIPS 2019, arXiv:1905.13727), algorithms 1 and 2.
 *
 * The gradient of a layer is a matrix M [n, m], of which each rank has a summand M_i. One step of
 * subspace iteration approximates it by factors of rank r, which are linear in M_i and so are
 * summed by two allreduces of fixed size:
 *   P = sum_i M_i Q;   P <- orthonormal columns;   Q = sum_i M_i^T P;   M ~ P Q^T
 * M_i is the gradient with what earlier steps have left out (error feedback): each rank keeps M_i -
 * P P^T M_i. The next step begins with this Q (warm start). Vectors, and matrices whose factors
 * have no fewer elements, are summed as they are, in the message of P.
 *
 * Published programs keep M_i - P Q^T instead, with the Q of all ranks: the sum over ranks is the
 * same, but what single ranks keep grows with the differences between them. They do without new
 * directions in place of dependent columns of P, so that a warm start never leaves the span of a
 * gradient of lower rank. */
#include "optim/exchange/powersgd/powersgd_priv.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "optim/exchange/powersgd/low_rank.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct powersgd_opts, rank, 2, 1, 1024, "1",
                 "rank of the approximation of each matrix, to which the bytes of an exchange are "
                 "proportional"),
    WEIR_OPT_BOOL(struct powersgd_opts, warm_start, true,
                  "begin each approximation with the factor of the step before; false: with random "
                  "numbers"),
    WEIR_OPT_ENUM(struct powersgd_opts, orthogonalisation, POWERSGD_GRAM_SCHMIDT_TWICE,
                  "gram_schmidt|gram_schmidt_twice",
                  "orthogonalisation of the left factor: modified Gram-Schmidt, as published, or "
                  "with a second pass, orthogonal to machine precision"),
    WEIR_OPT_INT(struct powersgd_opts, seed, 1, 0, 1e9, "1", "seed of the random numbers"),
    WEIR_OPT_END,
};

enum { DRAW_FACTOR, DRAW_COLUMN }; /* purposes of random numbers */

/* A matrix of the buffer, and where its factors are in the messages. */
typedef struct factored {
  int64_t first, rows, columns, rank;
  int64_t p, q;
} factored;

/* Elements between matrices, and where they are in the first message. */
typedef struct dense {
  int64_t first, count, at;
} dense;

typedef struct powersgd {
  exchange_buffer b;
  struct powersgd_opts opts;
  factored *matrix; /* [n_matrices] */
  dense *rest;      /* [n_matrices + 1], of which n_rest */
  int64_t n_matrices, n_rest;
  int64_t left_count, right_count;
  void *residual; /* [b.count] summands of this rank, and what is left of them */
  void *result;   /* [b.count] */
  void *left;     /* [left_count] factors P, by columns, and the rest */
  void *right;    /* [right_count] factors Q */
  double *p, *q, *row;
  weir_request *sum_left, *sum_right;
  int64_t steps;
} powersgd;

static void close_powersgd(void **state)
{
  powersgd *x = *state;

  if (x != NULL) {
    weir_request_destroy(&x->sum_left);
    weir_request_destroy(&x->sum_right);
    weir_free(&x->matrix);
    weir_free(&x->rest);
    weir_free(&x->residual);
    weir_free(&x->result);
    weir_free(&x->left);
    weir_free(&x->right);
    weir_free(&x->p);
    weir_free(&x->q);
    weir_free(&x->row);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

/* ---- Which elements are factored ---- */

static int64_t min_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Appends the elements between the last matrix and `end` to the rest. */
static void add_rest(powersgd *x, int64_t from, int64_t end)
{
  if (from < end) {
    x->rest[x->n_rest++] = (dense){from, end - from, x->left_count};
    x->left_count += end - from;
  }
}

/* Lists matrices worth factoring and the elements between them; shape: [n], which the buffer has
 * room for. */
static void list_matrices(powersgd *x, const weir_exchange_matrix *shape, int64_t n)
{
  int64_t end = 0;

  for (int64_t i = 0; i < n; i++) {
    const int64_t rows = shape[i].rows, columns = shape[i].columns;
    const int64_t rank = min_of(x->opts.rank, min_of(rows, columns));

    if (rank * (rows + columns) >= rows * columns) {
      continue;
    }
    add_rest(x, end, shape[i].first);
    x->matrix[x->n_matrices++] =
        (factored){shape[i].first, rows, columns, rank, x->left_count, x->right_count};
    x->left_count += rank * rows;
    x->right_count += rank * columns;
    end = shape[i].first + rows * columns;
  }
  add_rest(x, end, x->b.count);
}

/* Without shapes the buffer is one matrix, as square as can be. */
static weir_exchange_matrix square(int64_t count)
{
  const int64_t rows = (int64_t)sqrt((double)count);

  return (weir_exchange_matrix){.rows = rows, .columns = rows > 0 ? count / rows : 0};
}

static weir_status open_matrices(const weir_exchange_args *a, powersgd *x)
{
  const weir_exchange_matrix one = square(x->b.count);
  const weir_exchange_matrix *shape = a->n_matrices > 0 ? a->matrix : &one;
  const int64_t n = a->n_matrices > 0 ? a->n_matrices : 1;

  WEIR_TRY(weir_alloc(n, sizeof *x->matrix, (void **)&x->matrix));
  WEIR_TRY(weir_alloc(n + 1, sizeof *x->rest, (void **)&x->rest));
  list_matrices(x, shape, n);
  return WEIR_OK;
}

/* ---- Buffers ---- */

static void *element(const powersgd *x, void *buffer, int64_t i)
{
  return (char *)buffer + (size_t)i * x->b.sum->size;
}

static low_rank_matrix view(const powersgd *x, const factored *f, void *buffer)
{
  return (low_rank_matrix){x->b.dtype, element(x, buffer, f->first), f->rows, f->columns};
}

/* Random factors Q, the same on all ranks. */
static void draw(powersgd *x)
{
  for (int64_t i = 0; i < x->right_count; i++) {
    const double value =
        weir_random_normal((uint64_t)x->opts.seed, DRAW_FACTOR, (uint32_t)x->steps, (uint64_t)i);

    exchange_store(x->b.dtype, &value, 1, element(x, x->right, i));
  }
}

static weir_status create_buffers(powersgd *x)
{
  int64_t p = 0, q = 0, row = 0;

  for (int64_t i = 0; i < x->n_matrices; i++) {
    const factored *f = &x->matrix[i];

    p = f->rank * f->rows > p ? f->rank * f->rows : p;
    q = f->rank * f->columns > q ? f->rank * f->columns : q;
    row = f->columns > row ? f->columns : row;
  }
  WEIR_TRY(weir_alloc(p, sizeof *x->p, (void **)&x->p));
  WEIR_TRY(weir_alloc(q, sizeof *x->q, (void **)&x->q));
  WEIR_TRY(weir_alloc(row, sizeof *x->row, (void **)&x->row));
  WEIR_TRY(weir_alloc(x->left_count, x->b.sum->size, &x->left));
  WEIR_TRY(weir_alloc(x->right_count, x->b.sum->size, &x->right));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->residual));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->result));
  draw(x);
  return WEIR_OK;
}

static weir_status open_buffers(const weir_exchange_args *a, powersgd *x)
{
  WEIR_TRY(exchange_buffer_rounds(&x->b, "powersgd"));
  WEIR_TRY(open_matrices(a, x));
  return create_buffers(x);
}

static weir_status create_requests(powersgd *x)
{
  WEIR_TRY(weir_allreduce_create(x->b.group, "left factors", x->b.sum, x->left, x->left_count,
                                 &x->sum_left));
  return weir_allreduce_create(x->b.group, "right factors", x->b.sum, x->right, x->right_count,
                               &x->sum_right);
}

static weir_status open_powersgd(const weir_exchange_args *a, void **state)
{
  powersgd *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->opts = *(const struct powersgd_opts *)a->opts;
  x->steps = a->step;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "powersgd", &x->b), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, open_buffers(a, x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_requests(x)), failed);
  *state = x;
  return WEIR_OK;
failed:
  close_powersgd((void **)&x);
  return status;
}

/* ---- A step ---- */

/* P_i = M_i Q of each matrix, and the rest, of which nothing is left out. */
static void fill_left(powersgd *x)
{
  for (int64_t i = 0; i < x->n_matrices; i++) {
    const factored *f = &x->matrix[i];
    const low_rank_matrix m = view(x, f, x->residual);

    exchange_load(x->b.dtype, element(x, x->right, f->q), f->rank * f->columns, x->q);
    low_rank_right(&m, f->rank, x->q, x->p, x->row);
    exchange_store(x->b.dtype, x->p, f->rank * f->rows, element(x, x->left, f->p));
  }
  for (int64_t i = 0; i < x->n_rest; i++) {
    const dense *d = &x->rest[i];
    void *const from = element(x, x->residual, d->first);
    const size_t bytes = (size_t)d->count * x->b.sum->size;

    memcpy(element(x, x->left, d->at), from, bytes);
    memset(from, 0, bytes);
  }
}

/* Orthonormal P; Q_i = M_i^T P; M_i - P Q_i^T stays here. Factors are those of the messages, with
 * their rounding. */
static void fill_right(powersgd *x)
{
  const bool twice = x->opts.orthogonalisation == POWERSGD_GRAM_SCHMIDT_TWICE;
  const double least = x->b.dtype == WEIR_F32 ? 1e-6 : 1e-14;
  low_rank_random random = {(uint64_t)x->opts.seed, DRAW_COLUMN, (uint32_t)x->steps};

  for (int64_t i = 0; i < x->n_matrices; i++) {
    const factored *f = &x->matrix[i];
    const low_rank_matrix m = view(x, f, x->residual);
    void *const p = element(x, x->left, f->p), *const q = element(x, x->right, f->q);

    exchange_load(x->b.dtype, p, f->rank * f->rows, x->p);
    low_rank_orthonormal(x->p, f->rows, f->rank, twice, least, &random);
    exchange_store(x->b.dtype, x->p, f->rank * f->rows, p);
    exchange_load(x->b.dtype, p, f->rank * f->rows, x->p);
    low_rank_left(&m, f->rank, x->p, x->q, x->row);
    exchange_store(x->b.dtype, x->q, f->rank * f->columns, q);
    exchange_load(x->b.dtype, q, f->rank * f->columns, x->q);
    low_rank_expand(&m, f->rank, x->p, x->q, true, x->row);
  }
}

static void give(powersgd *x)
{
  for (int64_t i = 0; i < x->n_matrices; i++) {
    const factored *f = &x->matrix[i];
    const low_rank_matrix m = view(x, f, x->result);

    exchange_load(x->b.dtype, element(x, x->left, f->p), f->rank * f->rows, x->p);
    exchange_load(x->b.dtype, element(x, x->right, f->q), f->rank * f->columns, x->q);
    low_rank_expand(&m, f->rank, x->p, x->q, false, x->row);
  }
  for (int64_t i = 0; i < x->n_rest; i++) {
    const dense *d = &x->rest[i];

    memcpy(element(x, x->result, d->first), element(x, x->left, d->at),
           (size_t)d->count * x->b.sum->size);
  }
  exchange_buffer_put(&x->b, x->result);
}

static weir_status run(void *state)
{
  powersgd *x = state;

  if (!x->opts.warm_start) {
    draw(x);
  }
  exchange_buffer_add(&x->b, x->residual);
  fill_left(x);
  WEIR_TRY(weir_request_run(x->sum_left));
  fill_right(x);
  WEIR_TRY(weir_request_run(x->sum_right));
  give(x);
  x->steps++;
  return WEIR_OK;
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  powersgd *x = state;

  kept[0] =
      (weir_exchange_kept){"residual", x->residual, x->b.dtype, x->b.count, WEIR_KEPT_SUMMAND};
  kept[1] = (weir_exchange_kept){"factors", x->right, x->b.dtype, x->right_count, WEIR_KEPT_EQUAL};
  return x->opts.warm_start ? 2 : 1;
}

const weir_exchange_desc weir_exchange_powersgd = {
    .name = "powersgd",
    .cite = "Vogels et al. 2019",
    .help = "sum of low-rank approximations of the gradients of all ranks; what they leave out "
            "goes into later sums",
    .opts = options,
    .opts_size = sizeof(struct powersgd_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_powersgd,
    .run = run,
    .keep = keep,
    .close = close_powersgd,
};

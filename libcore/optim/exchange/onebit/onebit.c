/* onebit.c - gradients in one bit each, with error feedback: 1-bit SGD, Seide et al., "1-bit
 * stochastic gradient descent and its application to data-parallel distributed training of speech
 * DNNs" (Interspeech 2014), and 1-bit Adam, Tang et al. (ICML 2021, arXiv:2102.02888).
 *
 * Each rank owns a share of the buffer. Every other rank sends it its summand of this share as
 * signs, and keeps what they leave out; the owner sums them up with its own summand, which need not
 * be compressed, sends the sum as signs to all ranks, and keeps what these leave out. Both are
 * added to what the rank has in the next step, so that one array is enough for what workers keep
 * and what servers keep in the papers. The first freeze_step exchanges are plain sums.
 *
 * What is compressed is the velocity v, a gradient being what it changes by. On each of P ranks,
 * with the gradient g_i, what it kept e_i, and the velocity v of all ranks:
 *   v' = signs of sum_i (g_i + momentum v / P + e_i);   returned: v' - momentum v
 * With momentum 0 these are the gradients of 1-bit SGD. 1-bit Adam compresses the first moment m =
 * (1 - beta1) v, and divides by the second moment of the last uncompressed step: with momentum =
 * beta1, a rule with that beta1 makes the same m of what is returned; that the second moment is
 * frozen is an option of the rule (adam, adamw: freeze_step). If it is not, its squares are those
 * of compressed gradients, for which the paper's convergence does not hold.
 *
 * A sign stands for the mean magnitude of its block, which always reduces the error (Karimireddy et
 * al. 2019, arXiv:1901.09847); the published program takes the root mean square, which may increase
 * it. */
#include "optim/exchange/onebit/onebit_priv.h"

#include "base/weir_alloc.h"
#include "optim/exchange_buffer.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(struct onebit_opts, freeze_step, 100, 0, 1e15, "steps",
                 "steps at the beginning whose gradients are not compressed; with adam or adamw "
                 "as many as freeze_step of the rule"),
    WEIR_OPT_REAL(struct onebit_opts, momentum, 0, 0, 0.9999, "1",
                  "decay rate of the velocity that is compressed: beta1 of adam or adamw, mu of "
                  "momentum; 0: the gradient itself"),
    WEIR_OPT_INT(struct onebit_opts, block, 1024, 0, 1e15, "1",
                 "elements that share two values in place of their own; 0: all that a rank owns"),
    WEIR_OPT_ENUM(struct onebit_opts, values, SIGNS_MAGNITUDE, "magnitude|means",
                  "values of the two signs in a block: the mean magnitude with both signs "
                  "(Karimireddy et al. 2019), or the mean of the elements of either sign (Seide "
                  "et al. 2014)"),
    WEIR_OPT_END,
};

enum { CHUNK = 512 }; /* numbers in f64 at once */

typedef struct onebit {
  exchange_buffer b;
  struct onebit_opts opts;
  signs code;
  int ranks, own;
  int64_t *first;    /* [ranks + 1] elements of shares */
  int64_t *bytes;    /* [ranks] of their codes */
  uint8_t *codes;    /* of all shares, one after the other */
  uint8_t *arrived;  /* [ranks] codes of the own share, that of this rank is not used */
  void *residual;    /* [b.count] */
  void *velocity;    /* [b.count], NULL: momentum is 0 */
  void *sum;         /* [b.count] */
  weir_request *all; /* the plain sum */
  weir_request *scatter, *gather;
  int64_t steps;
} onebit;

static void close_onebit(void **state)
{
  onebit *x = *state;

  if (x != NULL) {
    weir_request_destroy(&x->all);
    weir_request_destroy(&x->scatter);
    weir_request_destroy(&x->gather);
    weir_free(&x->first);
    weir_free(&x->bytes);
    weir_free(&x->codes);
    weir_free(&x->arrived);
    weir_free(&x->residual);
    weir_free(&x->velocity);
    weir_free(&x->sum);
    exchange_buffer_close(&x->b);
  }
  weir_free(state);
}

static void *element(const onebit *x, void *buffer, int64_t i)
{
  return (char *)buffer + (size_t)i * x->b.sum->size;
}

static int64_t count_of(const onebit *x, int rank)
{
  return x->first[rank + 1] - x->first[rank];
}

static int64_t offset_of(const onebit *x, int rank)
{
  int64_t offset = 0;

  for (int q = 0; q < rank; q++) {
    offset += x->bytes[q];
  }
  return offset;
}

static weir_status open_buffers(onebit *x)
{
  WEIR_TRY(exchange_buffer_rounds(&x->b, "onebit"));
  WEIR_TRY(weir_alloc(x->ranks + 1, sizeof *x->first, (void **)&x->first));
  WEIR_TRY(weir_alloc(x->ranks, sizeof *x->bytes, (void **)&x->bytes));
  for (int q = 0; q < x->ranks; q++) {
    x->first[q + 1] = x->first[q] + x->b.count / x->ranks + (q < x->b.count % x->ranks);
    x->bytes[q] = signs_bytes(&x->code, count_of(x, q));
  }
  WEIR_TRY(weir_alloc(offset_of(x, x->ranks), 1, (void **)&x->codes));
  WEIR_TRY(weir_alloc(x->ranks * x->bytes[x->own], 1, (void **)&x->arrived));
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->residual));
  WEIR_TRY(x->opts.momentum > 0 ? exchange_buffer_alloc(&x->b, &x->velocity) : WEIR_OK);
  return exchange_buffer_alloc(&x->b, &x->sum);
}

/* The code of every share to its owner. */
static weir_status create_scatter(onebit *x)
{
  weir_message *list = NULL;
  int64_t n = 0;

  WEIR_TRY(weir_alloc(2 * (int64_t)x->ranks, sizeof *list, (void **)&list));
  for (int k = 1; k < x->ranks; k++) {
    const int to = (x->own + k) % x->ranks, from = (x->own + x->ranks - k) % x->ranks;

    list[n++] = (weir_message){from, true, x->arrived + from * x->bytes[x->own], x->bytes[x->own]};
    list[n++] = (weir_message){to, false, x->codes + offset_of(x, to), x->bytes[to]};
  }
  const weir_status status =
      weir_messages_create(x->b.group, "signs of gradients", list, n, &x->scatter);

  weir_free(&list);
  return status;
}

static weir_status create_requests(onebit *x)
{
  WEIR_TRY(weir_allreduce_create(x->b.group, "gradient", x->b.sum, x->sum, x->b.count, &x->all));
  WEIR_TRY(create_scatter(x));
  return weir_allgather_create(x->b.group, "signs of sums", 1, x->codes, x->bytes, &x->gather);
}

static weir_status open_onebit(const weir_exchange_args *a, void **state)
{
  onebit *x = NULL;
  weir_status status = weir_alloc(1, sizeof *x, (void **)&x);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  x->opts = *(const struct onebit_opts *)a->opts;
  x->steps = a->step;
  WEIR_TRY_GOTO(exchange_buffer_open(a, "onebit", &x->b), failed);
  x->code = (signs){x->b.dtype, x->opts.block, (signs_values)x->opts.values};
  x->ranks = weir_comm_size(x->b.group);
  x->own = weir_comm_rank(x->b.group);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, open_buffers(x)), failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, create_requests(x)), failed);
  *state = x;
  return WEIR_OK;
failed:
  close_onebit((void **)&x);
  return status;
}

/* ---- A step ---- */

static weir_status sum_all(onebit *x)
{
  exchange_buffer_clear(&x->b, x->sum);
  x->b.sum->merge(x->sum, x->residual, x->b.count);
  exchange_buffer_clear(&x->b, x->residual);
  return weir_request_run(x->all);
}

/* residual: summands, then what the codes leave out; sum: what they stand for. */
static weir_status sum_signs(onebit *x)
{
  void *const share = element(x, x->residual, x->first[x->own]);
  const int64_t n = count_of(x, x->own);

  for (int q = 0; q < x->ranks; q++) {
    if (q != x->own) {
      signs_encode(&x->code, element(x, x->residual, x->first[q]), count_of(x, q),
                   x->codes + offset_of(x, q));
    }
  }
  WEIR_TRY(weir_request_run(x->scatter));
  for (int q = 0; q < x->ranks; q++) {
    if (q != x->own) {
      signs_add(&x->code, x->arrived + q * x->bytes[x->own], n, share);
    }
  }
  signs_encode(&x->code, share, n, x->codes + offset_of(x, x->own));
  WEIR_TRY(weir_request_run(x->gather));
  exchange_buffer_clear(&x->b, x->sum);
  for (int q = 0; q < x->ranks; q++) {
    signs_add(&x->code, x->codes + offset_of(x, q), count_of(x, q),
              element(x, x->sum, x->first[q]));
  }
  return WEIR_OK;
}

/* Adds this rank's part of the decayed velocity to its summand. */
static void add_velocity(onebit *x)
{
  double own[CHUNK], v[CHUNK];

  for (int64_t at = 0; x->velocity != NULL && at < x->b.count; at += CHUNK) {
    const int64_t n = x->b.count - at < CHUNK ? x->b.count - at : CHUNK;

    exchange_load(x->b.dtype, element(x, x->residual, at), n, own);
    exchange_load(x->b.dtype, element(x, x->velocity, at), n, v);
    for (int64_t i = 0; i < n; i++) {
      own[i] += x->opts.momentum / x->ranks * v[i];
    }
    exchange_store(x->b.dtype, own, n, element(x, x->residual, at));
  }
}

/* The sum becomes the gradient; of a plain sum the velocity follows, a compressed one is the
 * velocity. */
static void take_velocity(onebit *x, bool compressed)
{
  double sum[CHUNK], v[CHUNK];

  for (int64_t at = 0; x->velocity != NULL && at < x->b.count; at += CHUNK) {
    const int64_t n = x->b.count - at < CHUNK ? x->b.count - at : CHUNK;

    exchange_load(x->b.dtype, element(x, x->sum, at), n, sum);
    exchange_load(x->b.dtype, element(x, x->velocity, at), n, v);
    for (int64_t i = 0; i < n; i++) {
      const double decayed = x->opts.momentum * v[i];

      v[i] = compressed ? sum[i] : sum[i] + decayed;
      sum[i] -= compressed ? decayed : 0;
    }
    exchange_store(x->b.dtype, sum, n, element(x, x->sum, at));
    exchange_store(x->b.dtype, v, n, element(x, x->velocity, at));
  }
}

static weir_status run(void *state)
{
  onebit *x = state;
  const bool compressed = ++x->steps > x->opts.freeze_step;

  exchange_buffer_add(&x->b, x->residual);
  if (compressed) {
    add_velocity(x);
  }
  WEIR_TRY(compressed ? sum_signs(x) : sum_all(x));
  take_velocity(x, compressed);
  exchange_buffer_put(&x->b, x->sum);
  return WEIR_OK;
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  onebit *x = state;

  kept[0] =
      (weir_exchange_kept){"residual", x->residual, x->b.dtype, x->b.count, WEIR_KEPT_SUMMAND};
  kept[1] = (weir_exchange_kept){"velocity", x->velocity, x->b.dtype, x->b.count, WEIR_KEPT_EQUAL};
  return x->velocity != NULL ? 2 : 1;
}

const weir_exchange_desc weir_exchange_onebit = {
    .name = "onebit",
    .cite = "Seide et al. 2014; Tang et al. 2021",
    .help = "sum of the gradients of all ranks in one bit for each element; what the bits leave "
            "out goes into later sums",
    .opts = options,
    .opts_size = sizeof(struct onebit_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_onebit,
    .run = run,
    .keep = keep,
    .close = close_onebit,
};

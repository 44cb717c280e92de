/* exchange.c - exchange policies by name; one that is open. */
#include "optim/weir_exchange.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"

weir_status weir_exchange_find(const char *name, const weir_exchange_desc **out)
{
  char names[256] = "";
  size_t used = 0;

  *out = NULL;
  for (int i = 0; weir_exchange_table[i] != NULL; i++) {
    const char *entry = weir_exchange_table[i]->name;

    if (strcmp(entry, name) == 0) {
      *out = weir_exchange_table[i];
      return WEIR_OK;
    }
    if (used < sizeof names) {
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", entry);
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "unknown exchange policy '%s': choose one of: %s", name, names);
}

bool weir_exchange_choice(int64_t i, weir_opt_choice *entry)
{
  for (int64_t k = 0; k <= i; k++) {
    if (weir_exchange_table[k] == NULL) {
      return false;
    }
  }
  const weir_exchange_desc *policy = weir_exchange_table[i];

  *entry = (weir_opt_choice){policy->name, policy->help, policy->opts, policy->opts_size};
  return true;
}

/* That matrices are ascending, disjoint, and inside the parts. */
static weir_status check_matrices(const weir_exchange_args *a)
{
  int64_t count = 0, end = 0;

  for (int i = 0; i < a->n; i++) {
    count += a->part[i].count;
  }
  for (int64_t i = 0; i < a->n_matrices; i++) {
    const weir_exchange_matrix *m = &a->matrix[i];
    int64_t elements = 0;

    if (m->first < end || m->rows < 1 || m->columns < 1 ||
        !weir_mul_ok(m->rows, m->columns, &elements) || elements > count - m->first) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "exchange: matrix %lld, of %lld x %lld elements from %lld on, overlaps "
                       "another one or the end of %lld elements",
                       (long long)i, (long long)m->rows, (long long)m->columns, (long long)m->first,
                       (long long)count);
    }
    end = m->first + elements;
  }
  return WEIR_OK;
}

/* The options of a policy, or its defaults, which the caller frees: *own. */
static weir_status options_of(const weir_exchange_desc *policy, const void *opts, void **own,
                              const void **out)
{
  *own = NULL;
  *out = opts;
  if (opts == NULL && policy->opts != NULL) {
    WEIR_TRY(weir_alloc(1, policy->opts_size, own));
    weir_opts_default(policy->opts, policy->opts_size, *own);
    *out = *own;
  }
  return WEIR_OK;
}

static weir_status ask(const weir_exchange_desc *policy, const void *opts,
                       bool (*question)(const void *opts), bool *yes)
{
  void *own = NULL;

  *yes = false;
  if (question != NULL) {
    WEIR_TRY(options_of(policy, opts, &own, &opts));
    *yes = question(opts);
    weir_free(&own);
  }
  return WEIR_OK;
}

weir_status weir_exchange_overlaps(const weir_exchange_desc *policy, const void *opts, bool *yes)
{
  return ask(policy, opts, policy->overlaps, yes);
}

weir_status weir_exchange_leaves_plan(const weir_exchange_desc *policy, const void *opts, bool *yes)
{
  return ask(policy, opts, policy->leaves_plan, yes);
}

weir_status weir_exchange_open(const weir_exchange_desc *policy, const weir_exchange_args *a,
                               weir_exchange *out)
{
  weir_exchange_args args = *a;
  void *defaults = NULL;
  weir_status status = check_matrices(a);

  *out = (weir_exchange){.policy = NULL};
  status = status == WEIR_OK ? options_of(policy, a->opts, &defaults, &args.opts) : status;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), done);
  WEIR_TRY_GOTO(weir_comm_split(a->comm, 0, &out->comm), done);
  args.comm = out->comm;
  WEIR_TRY_GOTO(policy->open(&args, &out->state), done);
  out->policy = policy;
  out->setup = weir_comm_counted(out->comm, WEIR_COMM_SETUP);
done:
  weir_free(&defaults);
  if (status != WEIR_OK) {
    weir_comm_close(&out->comm);
  }
  return status;
}

weir_status weir_exchange_ready(weir_exchange *x, int part, int64_t lo, int64_t hi)
{
  return x->policy != NULL && x->policy->ready != NULL ? x->policy->ready(x->state, part, lo, hi)
                                                       : WEIR_OK;
}

weir_status weir_exchange_run(weir_exchange *x)
{
  if (x->policy == NULL) {
    return WEIR_OK;
  }
  x->runs++;
  return x->policy->run(x->state);
}

bool weir_exchange_due(const weir_exchange *x)
{
  return x->policy == NULL || x->policy->due == NULL || x->policy->due(x->state);
}

weir_status weir_exchange_settle(weir_exchange *x)
{
  return x->policy != NULL && x->policy->settle != NULL ? x->policy->settle(x->state) : WEIR_OK;
}

/* Without those of open. */
static void count_messages(const weir_exchange *x, weir_exchange_counts *counts)
{
  static const weir_comm_use payload[] = {WEIR_COMM_SETUP, WEIR_COMM_EXCHANGE, WEIR_COMM_REDUCE,
                                          WEIR_COMM_ALLGATHER, WEIR_COMM_VARYING};
  const weir_comm_count notices = weir_comm_counted(x->comm, WEIR_COMM_ACTIVATION);

  counts->activations = notices.sent;
  counts->activation_bytes = notices.sent_bytes;
  counts->waited_s = notices.waited_s;
  for (size_t k = 0; k < sizeof payload / sizeof payload[0]; k++) {
    const weir_comm_count one = weir_comm_counted(x->comm, payload[k]);

    counts->messages += one.sent;
    counts->payload_bytes += one.sent_bytes - one.sent_index_bytes;
    counts->index_bytes += one.sent_index_bytes;
    counts->rounds += one.rounds;
    counts->waited_s += one.waited_s;
  }
  counts->messages -= x->setup.sent;
  counts->payload_bytes -= x->setup.sent_bytes;
  counts->rounds -= x->setup.rounds;
  counts->waited_s -= x->setup.waited_s;
}

weir_exchange_counts weir_exchange_count(const weir_exchange *x)
{
  weir_exchange_counts counts = {.versions = x->runs, .fresh = x->runs};

  if (x->policy != NULL && x->policy->count != NULL) {
    x->policy->count(x->state, &counts);
  }
  if (x->policy != NULL) {
    count_messages(x, &counts);
  }
  return counts;
}

void weir_exchange_close(weir_exchange *x)
{
  if (x->policy != NULL) {
    x->policy->close(&x->state);
    weir_comm_close(&x->comm);
  }
  x->policy = NULL;
}

/* rule.c - rules by name; their banks; arguments checked once for all rules. */
#include "optim/optim_priv.h"

#include <stdio.h>
#include <string.h>

weir_status weir_rule_find(const char *name, const weir_rule_desc **out)
{
  char names[256] = "";
  size_t used = 0;

  *out = NULL;
  for (int i = 0; weir_rule_table[i] != NULL; i++) {
    const char *entry = weir_rule_table[i]->name;

    if (strcmp(entry, name) == 0) {
      *out = weir_rule_table[i];
      return WEIR_OK;
    }
    if (used < sizeof names) {
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", entry);
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "unknown update rule '%s': choose one of: %s", name, names);
}

bool weir_rule_choice(int64_t i, weir_opt_choice *entry)
{
  for (int64_t k = 0; k <= i; k++) {
    if (weir_rule_table[k] == NULL) {
      return false;
    }
  }
  const weir_rule_desc *rule = weir_rule_table[i];

  *entry = (weir_opt_choice){rule->name, rule->help, rule->opts, rule->opts_size};
  return true;
}

static void name_state(const weir_rule_desc *rule, int k, const char *suffix, char *name,
                       size_t size)
{
  snprintf(name, size, "optim.%s%s", rule->state[k], suffix != NULL ? suffix : "");
}

weir_status weir_rule_add_state(const weir_rule_desc *rule, weir_store *store, weir_dtype dtype,
                                int64_t count)
{
  for (int k = 0; k < rule->n_state; k++) {
    char name[64];

    name_state(rule, k, NULL, name, sizeof name);
    WEIR_TRY(weir_store_add(store, name, dtype, 1, &count));
  }
  return WEIR_OK;
}

void weir_rule_get_state(const weir_rule_desc *rule, weir_graph *g, const weir_store *store,
                         const char *suffix, weir_value state[WEIR_RULE_STATES])
{
  for (int k = 0; k < WEIR_RULE_STATES; k++) {
    char name[64];

    state[k] = WEIR_NO_VALUE;
    if (k < rule->n_state) {
      name_state(rule, k, suffix, name, sizeof name);
      state[k] = weir_stored(g, store, name);
    }
  }
}

/* ---- Arguments ---- */

static weir_status need_value(const weir_graph *g, const weir_rule_desc *rule, const char *what,
                              weir_value v, const weir_array_desc **out)
{
  *out = weir_value_desc(g, v);
  return *out != NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_SHAPE, "%s: %s is not a value of the graph", rule->name, what);
}

static weir_status need_bank(const weir_graph *g, const weir_rule_desc *rule, const char *what,
                             weir_value v, const weir_array_desc *bank)
{
  const weir_array_desc *d = NULL;

  WEIR_TRY(need_value(g, rule, what, v, &d));
  if (d->dtype != bank->dtype || d->rank != 1 || d->shape[0] != bank->shape[0]) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: %s is %s of rank %d, extent %lld; expected %s [%lld], as the parameters",
                     rule->name, what, weir_dtype_name(d->dtype), d->rank,
                     (long long)(d->rank > 0 ? d->shape[0] : 1), weir_dtype_name(bank->dtype),
                     (long long)bank->shape[0]);
  }
  return WEIR_OK;
}

static weir_status need_number(const weir_graph *g, const weir_rule_desc *rule, const char *what,
                               weir_value v)
{
  const weir_array_desc *d = NULL;

  WEIR_TRY(need_value(g, rule, what, v, &d));
  return d->rank == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_SHAPE, "%s: %s has rank %d: it must be a scalar (rank 0)",
                         rule->name, what, d->rank);
}

static weir_status check_segments(const weir_rule_desc *rule, const weir_rule_args *a,
                                  int64_t count)
{
  int64_t end = 0;

  for (int64_t i = 0; i < a->n_segments; i++) {
    const weir_segment s = a->segments[i];

    if (s.first < end || s.count < 0 || s.first > count - s.count) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "%s: segment %lld has %lld parameters from %lld on: it must begin at %lld "
                       "or later and end at %lld or before",
                       rule->name, (long long)i, (long long)s.count, (long long)s.first,
                       (long long)end, (long long)count);
    }
    end = s.first + s.count;
  }
  return WEIR_OK;
}

static weir_status check(const weir_graph *g, const weir_rule_desc *rule, const weir_rule_args *a,
                         const weir_array_desc *bank)
{
  if (bank->rank != 1 || !weir_dtype_is_real(bank->dtype)) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "%s: the parameters are %s of rank %d: a flat buffer of floats (rank 1) is needed",
        rule->name, weir_dtype_name(bank->dtype), bank->rank);
  }
  WEIR_TRY(need_bank(g, rule, "the gradient", a->grad, bank));
  for (int k = 0; k < rule->n_state; k++) {
    WEIR_TRY(need_bank(g, rule, rule->state[k], a->state[k], bank));
  }
  WEIR_TRY(need_number(g, rule, "the learning rate", a->lr));
  WEIR_TRY(need_number(g, rule, "the step", a->step));
  if (a->decay.node >= 0) {
    const weir_array_desc *d = NULL;

    WEIR_TRY(need_value(g, rule, "decay", a->decay, &d));
    if (d->rank > 1 || (d->rank == 1 && d->shape[0] != bank->shape[0])) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "%s: decay has rank %d, extent %lld: it must match the parameter buffer",
                       rule->name, d->rank, (long long)d->shape[0]);
    }
  }
  return check_segments(rule, a, bank->shape[0]);
}

static weir_value with_dtype(weir_graph *g, weir_dtype dtype, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(g, v);

  return d != NULL && d->dtype == dtype ? v : weir_cast(g, dtype, v);
}

weir_status weir_rule_build(weir_graph *g, const weir_rule_desc *rule, const weir_rule_args *args)
{
  const weir_array_desc *param = NULL;
  weir_rule_args a = *args;

  WEIR_TRY(weir_graph_status(g));
  WEIR_TRY(need_value(g, rule, "the parameter buffer", a.param, &param));
  const weir_array_desc bank = *param; /* adding nodes moves what it points to */
  const weir_segment whole = {0, bank.shape[0]};

  WEIR_TRY(check(g, rule, &a, &bank));
  if (a.segments == NULL || a.n_segments == 0) {
    a.segments = &whole;
    a.n_segments = 1;
  }
  a.lr = with_dtype(g, bank.dtype, a.lr);
  a.step = with_dtype(g, WEIR_F64, a.step);
  a.decay = a.decay.node >= 0 ? with_dtype(g, bank.dtype, a.decay) : weir_scalar(g, bank.dtype, 1);
  WEIR_TRY(rule->build(g, &a));
  return weir_graph_status(g);
}

/* ---- What rules share ---- */

weir_value weir_rule_weight_decay(weir_graph *g, const weir_rule_args *a, weir_value x,
                                  double weight_decay)
{
  if (weight_decay == 0) {
    return x;
  }
  return weir_add(g, x, weir_mul(g, weir_scale(g, a->decay, weight_decay), a->param));
}

void weir_rule_apply(weir_graph *g, const weir_rule_args *a, weir_value rate, weir_value x)
{
  weir_update(g, a->param, weir_sub(g, a->param, weir_mul(g, rate, x)));
}

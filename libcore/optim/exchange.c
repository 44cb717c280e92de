/* exchange.c - exchange policies by name; one that is open. */
#include "optim/weir_exchange.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"

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

weir_status weir_exchange_open(const weir_exchange_desc *policy, const weir_exchange_args *a,
                               weir_exchange *out)
{
  weir_exchange_args args = *a;
  void *defaults = NULL;
  weir_status status = WEIR_OK;

  *out = (weir_exchange){.policy = NULL};
  if (args.opts == NULL && policy->opts != NULL) {
    status = weir_alloc(1, policy->opts_size, &defaults);
    if (status == WEIR_OK) {
      weir_opts_default(policy->opts, policy->opts_size, defaults);
    }
    args.opts = defaults;
  }
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), done);
  WEIR_TRY_GOTO(policy->open(&args, &out->state), done);
  out->policy = policy;
done:
  weir_free(&defaults);
  return status;
}

weir_status weir_exchange_run(weir_exchange *x)
{
  if (x->policy == NULL) {
    return WEIR_OK;
  }
  const double start = weir_clock();
  const weir_status status = x->policy->run(x->state);

  x->runs++;
  x->waited_s += weir_clock() - start;
  return status;
}

bool weir_exchange_due(const weir_exchange *x)
{
  return x->policy == NULL || x->policy->due == NULL || x->policy->due(x->state);
}

weir_status weir_exchange_settle(weir_exchange *x)
{
  return x->policy != NULL && x->policy->settle != NULL ? x->policy->settle(x->state) : WEIR_OK;
}

weir_exchange_counts weir_exchange_count(const weir_exchange *x)
{
  weir_exchange_counts counts = {.versions = x->runs, .fresh = x->runs};

  if (x->policy != NULL && x->policy->count != NULL) {
    x->policy->count(x->state, &counts);
  }
  counts.waited_s = x->waited_s;
  return counts;
}

void weir_exchange_close(weir_exchange *x)
{
  if (x->policy != NULL) {
    x->policy->close(&x->state);
  }
  x->policy = NULL;
}

/* pass.c - the sequence of passes. */
#include "pass/weir_pass.h"

#include "graph/kernel/weir_kernel_use.h"

#include <string.h>

/* Name of the pass that still runs when it is left out, without fusing. */
static const char fusion[] = "fuse";

/* True when the comma-separated list holds the name. */
static bool lists(const char *list, const char *name)
{
  const size_t n = strlen(name);

  for (const char *at = list; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0)) {
      return true;
    }
  }
  return false;
}

/* Whether the list names the pass, by its name or its former one. */
static bool lists_pass(const char *list, const weir_pass *pass)
{
  return lists(list, pass->name) || (pass->former != NULL && lists(list, pass->former));
}

/* Every name of the list is that of a pass. */
static weir_status check_list(const char *list)
{
  int64_t named = 0, known = 0;

  for (const char *at = list; at != NULL && *at != 0; at = strchr(at, ',')) {
    at += *at == ',';
    named++;
  }
  for (int i = 0; weir_pass_table[i] != NULL; i++) {
    known += lists_pass(list, weir_pass_table[i]); /* both names are one pass twice */
  }
  return named == known ? WEIR_OK
                        : weir_fail(WEIR_ERR_CONFIG, "unknown or repeated pass '%s'", list);
}

/* The pass whose first or second run comes next after order `done`; NULL: none. *order: when. */
static const weir_pass *next_after(int done, int *order)
{
  const weir_pass *next = NULL;

  for (int i = 0; weir_pass_table[i] != NULL; i++) {
    const int runs[] = {weir_pass_table[i]->order, weir_pass_table[i]->again};

    for (int k = 0; k < 2; k++) {
      if ((k == 0 || runs[k] > 0) && runs[k] > done && (next == NULL || runs[k] < *order)) {
        next = weir_pass_table[i];
        *order = runs[k];
      }
    }
  }
  return next;
}

weir_status weir_passes_run(weir_graph *g, const weir_pass_opts *opts, weir_pass_watch watch,
                            void *context)
{
  weir_pass_opts own = *opts;
  int done = -1;

  WEIR_TRY(check_list(opts->skip));
  for (int i = 0; weir_pass_table[i] != NULL; i++) {
    own.no_fusion = own.no_fusion || (strcmp(weir_pass_table[i]->name, fusion) == 0 &&
                                      lists_pass(opts->skip, weir_pass_table[i]));
  }
  for (const weir_pass *next = next_after(-1, &done); next != NULL;
       next = next_after(done, &done)) {
    const bool standing = done == next->again && weir_graph_groups(g) > 0;

    if (standing || (lists_pass(opts->skip, next) && strcmp(next->name, fusion) != 0)) {
      continue;
    }
    WEIR_TRY(next->run(g, &own));
    WEIR_TRY(weir_graph_validate(g));
    if (watch != NULL) {
      WEIR_TRY(watch(context, next, g));
    }
  }
  return WEIR_OK;
}

weir_status weir_pass_run(weir_graph *g, const char *name, const weir_pass_opts *opts)
{
  for (int i = 0; weir_pass_table[i] != NULL; i++) {
    if (strcmp(weir_pass_table[i]->name, name) == 0) {
      WEIR_TRY(lists_pass(opts->skip, weir_pass_table[i]) ? WEIR_OK
                                                          : weir_pass_table[i]->run(g, opts));
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "there is no pass '%s'", name);
}

const weir_constants *weir_pass_constants(const weir_pass_opts *opts)
{
  return opts->constants != NULL ? opts->constants : weir_constants_get(NULL);
}

/* Whether it multiplies transformed operands that are to be multiplied as they are. */
static bool is_left_out(const weir_kernel *k, const weir_graph *g, const weir_group *group,
                        const weir_pass_opts *opts)
{
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  bool half = false;

  for (int i = 0; i < a->n_in; i++) {
    half = half || a->in[i].dtype == WEIR_BF16;
  }
  return k->transforms && (opts->plain || (opts->plain_half && half));
}

/* The best kernel for the CPU, or for other devices. */
static const weir_kernel *best_of(const weir_graph *g, const weir_group *group,
                                  const weir_pass_opts *opts, const char *device, double *seconds)
{
  const char *wanted = opts->kernel != NULL ? opts->kernel : "auto";
  const weir_kernel *best = NULL;

  *seconds = -1;
  for (int i = 0; opts->kernels != NULL && opts->kernels[i] != NULL; i++) {
    const weir_kernel *k = opts->kernels[i];

    if (strcmp(k->device, device) != 0 || is_left_out(k, g, group, opts) ||
        (strcmp(wanted, "auto") != 0 && strcmp(wanted, k->name) != 0)) {
      continue;
    }
    const double cost = weir_kernel_seconds(k, g, group);

    if (cost >= 0 && (*seconds < 0 || cost < *seconds)) {
      *seconds = cost;
      best = k;
    }
  }
  return best;
}

const weir_kernel *weir_kernel_best(const weir_graph *g, const weir_group *group,
                                    const weir_pass_opts *opts, double *seconds)
{
  static const char host[] = WEIR_KERNEL_CPU;
  const char *device =
      opts->device == NULL || strcmp(opts->device, host) == 0 ? host : WEIR_KERNEL_DEVICE;
  const weir_node *anchor = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_kernel *best = best_of(g, group, opts, device, seconds);

  return best == NULL && anchor->access.maker == WEIR_MADE_BY_LIBRARY && device != host
             ? best_of(g, group, opts, host, seconds)
             : best;
}

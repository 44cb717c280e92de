/* kept.c - see kept.h. */
#include "train/step/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "train/array_names.h"
#include "train/grid/ranks.h"

enum { NAME = 128 };

static void name_of(const train_run *r, const weir_exchange_kept *k, char name[NAME])
{
  (void)snprintf(name, NAME, TRAIN_KEPT "%s.%s", r->exchange.policy->name, k->name);
}

static int list_kept(const train_run *r, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  const weir_exchange_desc *policy = r->exchange.policy;

  return policy != NULL && policy->keep != NULL ? policy->keep(r->exchange.state, kept) : 0;
}

static size_t bytes_of(const weir_exchange_kept *k)
{
  return (size_t)k->count * weir_dtype_size(k->dtype);
}

/* ---- Into a checkpoint ---- */

/* Adds an array to r->kept. all: of all ranks, where it differs from rank to rank. */
static weir_status add(train_run *r, const weir_exchange_kept *k, const void *all, int64_t bytes)
{
  const int64_t shape[] = {weir_comm_size(r->ranks.all), k->count};
  const bool equal = k->kind == WEIR_KEPT_EQUAL;
  weir_tensor *t = NULL;
  char name[NAME];

  name_of(r, k, name);
  WEIR_TRY(weir_store_add(r->kept, name, k->dtype, equal ? 1 : 2, equal ? shape + 1 : shape));
  WEIR_TRY(weir_store_write(r->kept, name, &t));
  WEIR_ASSERT((int64_t)weir_tensor_bytes(t) == bytes);
  if (bytes > 0) {
    memcpy(t->data, all, (size_t)bytes);
  }
  return WEIR_OK;
}

static weir_status gather(train_run *r, const weir_exchange_kept *k)
{
  void *all = NULL;
  int64_t bytes = (int64_t)bytes_of(k);
  weir_status status = WEIR_OK;

  if (k->kind != WEIR_KEPT_EQUAL) {
    WEIR_TRY(weir_comm_gather(r->ranks.all, k->data, bytes, &all, &bytes));
  }
  if (train_leads(r)) {
    status = add(r, k, k->kind == WEIR_KEPT_EQUAL ? k->data : all, bytes);
  }
  weir_free(&all);
  return train_agree_all(r, status);
}

weir_status train_gather_kept(train_run *r)
{
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = list_kept(r, kept);

  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(train_agree_all(r, train_leads(r) ? weir_store_create(&r->kept) : WEIR_OK));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(gather(r, &kept[i]));
  }
  return WEIR_OK;
}

/* ---- From a checkpoint ---- */

/* How an array of the policy comes from that of the file. */
enum { NOT, SHARED, ROWS, SAME };

/* On rank 0. */
static int way_of(const train_run *r, const weir_exchange_kept *k, const weir_tensor **t)
{
  char name[NAME];

  name_of(r, k, name);
  *t = NULL;
  if (r->kept == NULL || weir_store_read(r->kept, name, t) != WEIR_OK) {
    weir_clear_failure();
    return NOT;
  }
  if ((*t)->dtype != k->dtype || (*t)->rank != (k->kind == WEIR_KEPT_EQUAL ? 1 : 2) ||
      (*t)->shape[(*t)->rank - 1] != k->count) {
    return NOT;
  }
  if (k->kind == WEIR_KEPT_EQUAL) {
    return SAME;
  }
  return (*t)->shape[0] == weir_comm_size(r->ranks.all) ? ROWS
         : k->kind == WEIR_KEPT_SUMMAND                 ? SHARED
                                                        : NOT;
}

/* Row q of rank 0 becomes the array of rank q. */
static weir_status scatter(train_run *r, const weir_exchange_kept *k, const weir_tensor *rows)
{
  weir_comm *const c = r->ranks.all;
  const int64_t bytes = (int64_t)bytes_of(k);
  const int ranks = weir_comm_size(c);
  weir_message *list = NULL;
  weir_request *request = NULL;
  int64_t n = 0;
  weir_status status = weir_alloc(ranks, sizeof *list, (void **)&list);

  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  if (!train_leads(r)) {
    list[n++] = (weir_message){.peer = 0, .receive = true, .data = k->data, .bytes = bytes};
  }
  for (int q = 0; q < ranks && train_leads(r) && bytes > 0; q++) {
    char *const row = (char *)rows->data + q * bytes;

    if (q == 0) {
      memcpy(k->data, row, (size_t)bytes);
    } else {
      list[n++] = (weir_message){.peer = q, .data = row, .bytes = bytes};
    }
  }
  WEIR_TRY_GOTO(train_agree_all(r, weir_messages_create(c, "what ranks keep", list, n, &request)),
                done);
  status = weir_request_run_once(&request);
done:
  weir_request_destroy(&request);
  weir_free(&list);
  return status;
}

/* The array of rank 0 becomes that of all. */
static weir_status broadcast(train_run *r, const weir_exchange_kept *k)
{
  weir_comm *const c = r->ranks.all;
  weir_request *request = NULL;
  int64_t *counts = NULL;
  weir_status status = weir_alloc(weir_comm_size(c), sizeof *counts, (void **)&counts);

  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  counts[0] = k->count;
  WEIR_TRY_GOTO(weir_allgather_create(c, "what ranks keep", weir_dtype_size(k->dtype), k->data,
                                      counts, &request),
                done);
  status = weir_request_run_once(&request);
done:
  weir_free(&counts);
  return status;
}

/* Element of the sum of rows. */
static double sum_of(const weir_tensor *rows, int64_t i)
{
  double sum = 0;

  for (int64_t q = 0; q < rows->shape[0]; q++) {
    sum += weir_dtype_load_real(rows->dtype, rows->data, q * rows->shape[1] + i);
  }
  return sum;
}

/* Each rank gets an equal share of the sum of all rows, rank 0 what rounding has left, too. */
static weir_status share(train_run *r, const weir_exchange_kept *k, const weir_tensor *rows)
{
  const int ranks = weir_comm_size(r->ranks.all);

  for (int64_t i = 0; i < k->count && train_leads(r); i++) {
    weir_dtype_store_real(k->dtype, k->data, i, sum_of(rows, i) / ranks);
  }
  WEIR_TRY(broadcast(r, k));
  for (int64_t i = 0; i < k->count && train_leads(r); i++) {
    const double others = (ranks - 1) * weir_dtype_load_real(k->dtype, k->data, i);

    weir_dtype_store_real(k->dtype, k->data, i, sum_of(rows, i) - others);
  }
  return WEIR_OK;
}

static weir_status restore(train_run *r, const weir_exchange_kept *k)
{
  const weir_tensor *t = NULL;
  int64_t way = train_leads(r) ? way_of(r, k, &t) : INT64_MAX;

  WEIR_TRY(train_min_all(r, &way)); /* that of rank 0 */
  if (way == SAME && train_leads(r) && k->count > 0) {
    memcpy(k->data, t->data, bytes_of(k));
  }
  return way == SAME     ? broadcast(r, k)
         : way == ROWS   ? scatter(r, k, t)
         : way == SHARED ? share(r, k, t)
                         : WEIR_OK;
}

/* The policy of an array of the checkpoint, "oktopk" of "train.kept.oktopk.residual". */
static void policy_of(const char *array, char policy[NAME])
{
  const char *const name = array + strlen(TRAIN_KEPT);

  (void)snprintf(policy, NAME, "%.*s", (int)strcspn(name, "."), name);
}

static int64_t ranks_of(const train_run *r)
{
  return r->ranks.all != NULL ? weir_comm_size(r->ranks.all) : 1;
}

/* Ranks of the run that wrote what the policy keeps; those of this one where no array tells. */
static int64_t writers_of(const train_run *r, const char *policy)
{
  for (int64_t i = 0; i < weir_store_count(r->kept); i++) {
    const weir_tensor *const t = weir_store_find(r->kept, weir_store_name(r->kept, i));
    char owner[NAME];

    policy_of(weir_store_name(r->kept, i), owner);
    if (strcmp(owner, policy) == 0 && t->rank == 2) {
      return t->shape[0];
    }
  }
  return ranks_of(r);
}

/* What of the array the open policy keeps, NULL: it keeps none of that name. */
static const weir_exchange_kept *find_kept(const train_run *r, const weir_exchange_kept *kept,
                                           int n, const char *array)
{
  char name[NAME];

  for (int k = 0; k < n; k++) {
    name_of(r, &kept[k], name);
    if (strcmp(name, array) == 0) {
      return &kept[k];
    }
  }
  return NULL;
}

/* Why an array of `policy`, written by so many ranks, does not fit this run. */
static void explain(const train_run *r, const char *policy, int64_t writers, char reason[NAME])
{
  const weir_exchange_desc *now = r->exchange.policy;

  if (now == NULL && weir_optim_exchange(&r->cfg->optim, &now) != WEIR_OK) {
    weir_clear_failure();
  }
  if (now != NULL && strcmp(now->name, policy) != 0) {
    (void)snprintf(reason, NAME, "this run has the policy %s", now->name);
  } else if (ranks_of(r) == 1) {
    (void)snprintf(reason, NAME, "a run on one rank exchanges nothing");
  } else if (writers != ranks_of(r)) {
    (void)snprintf(reason, NAME, "this run has %" PRId64 " ranks, which begin without it",
                   ranks_of(r));
  } else {
    (void)snprintf(reason, NAME, "the options of the policy have changed");
  }
}

/* Warns of each array that this run does not continue. On rank 0. */
static void tell_dropped(const train_run *r, const weir_exchange_kept *kept, int n)
{
  for (int64_t i = 0; r->kept != NULL && i < weir_store_count(r->kept); i++) {
    const char *const array = weir_store_name(r->kept, i);
    const weir_exchange_kept *const own = find_kept(r, kept, n, array);
    const weir_tensor *t = NULL;
    char policy[NAME], reason[NAME];

    if (own != NULL && way_of(r, own, &t) != NOT) {
      continue;
    }
    policy_of(array, policy);
    const int64_t writers = writers_of(r, policy);

    explain(r, policy, writers, reason);
    weir_warn("train",
              "'%s' of the checkpoint, which the exchange policy %s keeps from step to step, is "
              "dropped: %s; to continue with it, resume with optim.exchange %s and its former "
              "options on %" PRId64 " ranks",
              array, policy, reason, policy, writers);
  }
}

weir_status train_restore_kept(train_run *r)
{
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = list_kept(r, kept);

  for (int i = 0; i < n; i++) {
    WEIR_TRY(restore(r, &kept[i]));
  }
  if (train_leads(r)) {
    tell_dropped(r, kept, n);
  }
  weir_store_destroy(&r->kept);
  return WEIR_OK;
}

/* optim_moves.c - see optim_moves.h. */
#include "train/grid/optim_moves.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "train/array_names.h"
#include "train/grid/ranks.h"

/* Elements of the shard of each rank: [ranks], the caller's. */
static weir_status count_shards(const train_run *r, int64_t **counts)
{
  const int ranks = weir_comm_size(r->ranks.all);

  WEIR_TRY(weir_alloc(ranks, sizeof **counts, (void **)counts));
  for (int q = 0; q < ranks; q++) {
    (*counts)[q] = r->ranks.optim.at[q + 1] - r->ranks.optim.at[q];
  }
  return WEIR_OK;
}

/* The gradient of all parameters is a summand on each rank; the sum of a shard is on its own. */
static weir_status create_scatter(train_run *r, const int64_t *counts)
{
  weir_tensor *bank = NULL;

  WEIR_TRY(weir_store_pin(r->store, TRAIN_BANK, &bank));
  return weir_reduce_scatter_create(r->ranks.all, "gradient",
                                    weir_reducer_of(WEIR_REDUCE_SUM, bank->dtype), bank->data,
                                    counts, &r->ranks.optim.scatter);
}

static weir_status create_gather(train_run *r, const int64_t *counts)
{
  weir_tensor *bank = NULL;

  WEIR_TRY(weir_store_pin(r->store, WEIR_PARAMS_FLAT, &bank));
  return weir_allgather_create(r->ranks.all, "parameters", weir_dtype_size(bank->dtype), bank->data,
                               counts, &r->ranks.optim.gather);
}

/* Runs a request, which is created when it is first needed. */
static weir_status run(train_run *r, weir_request **request,
                       weir_status (*create)(train_run *, const int64_t *))
{
  int64_t *counts = NULL;
  weir_status status = WEIR_OK;

  if (*request == NULL) {
    WEIR_TRY_GOTO(train_agree_all(r, count_shards(r, &counts)), done);
    WEIR_TRY_GOTO(create(r, counts), done);
  }
  status = weir_request_run(*request);
done:
  weir_free(&counts);
  return status;
}

weir_status train_scatter_gradient(train_run *r)
{
  return run(r, &r->ranks.optim.scatter, create_scatter);
}

weir_status train_gather_params(train_run *r)
{
  return r->ranks.optim.what != WEIR_OPTIM_SHARD_NONE && !r->ranks.optim.params_sharded
             ? run(r, &r->ranks.optim.gather, create_gather)
             : WEIR_OK;
}

weir_status train_complete_store(const train_run *r, weir_store **out)
{
  const train_optim_shards *s = &r->ranks.optim;
  weir_store *store = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (s->what == WEIR_OPTIM_SHARD_NONE || !train_leads(r)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_create(&store));
  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);
    const int64_t count = weir_params_elements(r->params);
    weir_tensor *t = NULL;

    if (strcmp(name, TRAIN_BANK) == 0) {
      continue; /* in no file */
    }
    WEIR_TRY_GOTO(weir_store_pin(r->store, name, &t), failed);
    WEIR_TRY_GOTO(train_optim_sharded(s, name) ? weir_store_add(store, name, t->dtype, 1, &count)
                                               : weir_store_add_view(store, name, t),
                  failed);
  }
  *out = store;
  return WEIR_OK;
failed:
  weir_store_destroy(&store);
  return status;
}

/* Moves the shards of one array; whole: on rank 0 its complete one. */
static weir_status move_array(const train_run *r, weir_tensor *own, weir_tensor *whole,
                              bool collect, weir_message *list)
{
  const train_optim_shards *s = &r->ranks.optim;
  const size_t size = weir_dtype_size(own->dtype), bytes = weir_tensor_bytes(own);
  weir_request *request = NULL;
  int64_t n = 0;

  for (int q = 1; whole != NULL && q < weir_comm_size(r->ranks.all); q++) {
    list[n++] = (weir_message){q, collect, (char *)whole->data + (size_t)s->at[q] * size,
                               (s->at[q + 1] - s->at[q]) * (int64_t)size};
  }
  if (whole == NULL) {
    list[n++] = (weir_message){0, !collect, own->data, (int64_t)bytes};
  } else if (bytes > 0) {
    memcpy(collect ? whole->data : own->data, collect ? own->data : whole->data, bytes);
  }
  WEIR_TRY(train_agree_all(
      r, weir_messages_create(r->ranks.all, "shards of the optimiser", list, n, &request)));
  return weir_request_run_once(&request);
}

static weir_status move_shards(const train_run *r, weir_store *complete, bool collect)
{
  const train_optim_shards *s = &r->ranks.optim;
  weir_message *list = NULL;
  weir_status status = WEIR_OK;

  if (s->what == WEIR_OPTIM_SHARD_NONE) {
    return WEIR_OK;
  }
  WEIR_TRY(
      train_agree_all(r, weir_alloc(weir_comm_size(r->ranks.all), sizeof *list, (void **)&list)));
  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);

    if (train_optim_sharded(s, name) && strcmp(name, TRAIN_BANK) != 0) {
      weir_tensor *own = NULL, *whole = NULL;

      status = weir_store_write(r->store, name, &own);
      if (status == WEIR_OK && complete != NULL) {
        status = weir_store_write(complete, name, &whole);
      }
      WEIR_TRY_GOTO(train_agree_all(r, status), done);
      WEIR_TRY_GOTO(move_array(r, own, whole, collect, list), done);
    }
  }
done:
  weir_free(&list);
  return status;
}

weir_status train_collect_shards(const train_run *r, weir_store *complete)
{
  return move_shards(r, complete, true);
}

weir_status train_distribute_shards(const train_run *r, weir_store *complete)
{
  return move_shards(r, complete, false);
}

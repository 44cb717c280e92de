/* verify_check.h - scores of an archive of a test. Tests only. */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H
#include "eval/verify.h"
#include "base/weir_check.h"

/* An evaluation of files. */
typedef struct fixture {
  weir_config *config;
  wx_verify_opts opts;
  wx_archive *forecast, *truth;
  wx_eval_data data;
  int64_t all[64];
  wx_verify verify;
} fixture;

/* The initialisation times from number `first` on are scored. */
static inline weir_status open_from(fixture *t, int64_t first, const char *yaml)
{
  const int64_t n = t->data.facts->n_init_times - first;

  weir_config_destroy(&t->config);
  assert_ok(weir_opts_parse(wx_verify_options, sizeof t->opts, yaml, &t->opts, &t->config));
  for (int64_t i = 0; i < n; i++) {
    t->all[i] = first + i;
  }
  return wx_verify_open(&t->opts, &t->data, 5, t->all, n, &t->verify);
}

static inline weir_status open_verify(fixture *t, const char *yaml)
{
  return open_from(t, 0, yaml);
}

static inline void close_fixture(fixture *t)
{
  wx_verify_close(&t->verify);
  wx_eval_data_fini(&t->data);
  wx_archive_close(&t->forecast);
  wx_archive_close(&t->truth);
  weir_config_destroy(&t->config);
}

enum { PATH = 512, FILES = 3 };
#endif

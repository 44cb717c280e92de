/* samples_check.h - a small archive of memory for tests: three initialisation times a day apart,
 * leads 0, 24, 48 h, z on 500 and 850 hPa and t on both, four members, 3 x 4 cells; every value
 * says where it is from.
 */
#ifndef WX_SAMPLES_CHECK_H
#define WX_SAMPLES_CHECK_H
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "conf/weir_opt.h"
#include "data/quantity.h"
#include "data/samples/samples.h"

enum {
  S_INIT_TIMES = 12,
  S_LEADS = 3,
  S_Q = 4,
  S_M = 4,
  S_LAT = 3,
  S_LON = 4,
  S_P = S_LAT * S_LON
};
enum { S_TRUTHS = S_INIT_TIMES + 1 }; /* the last start has no truth 48 h later */
#define S_DAY (INT64_C(86400))
#define S_BEGIN (INT64_C(10957) * S_DAY)

typedef struct scene {
  float forecast[S_INIT_TIMES * S_LEADS * S_Q * S_M * S_P], truth[S_TRUTHS * S_Q * S_P];
  int64_t start[S_TRUTHS], member[S_M];
  double lat[S_LAT], lon[S_LON], lead[S_LEADS];
  wx_quantity quantity[S_Q];
  wx_archive *of_forecast, *of_truth;
} scene;

/* z500, z850, t500, t850 of the truth at a day: a wave that moves, larger to the north. */
static inline float scene_truth(int64_t day, int64_t q, int64_t i)
{
  return (float)(100 * (double)(q + 1) +
                 (3 - (double)(i / S_LON)) *
                     sin((double)day + 1.5 * (double)(i % S_LON) + (double)q));
}

/* Member m: the truth, a bias that grows with the lead, and its own distance from the mean. */
static inline float scene_forecast(int64_t s, int64_t l, int64_t q, int64_t m, int64_t i)
{
  const double apart = (double)m - (S_M - 1) / 2.0;

  return (float)((double)scene_truth(s + l, q, i) + 0.5 * (double)l +
                 apart * (double)(1 + l) * (1 + 0.1 * (double)i));
}

static inline void scene_open(scene *s)
{
  static const char *const variable[S_Q] = {"z", "z", "t", "t"};
  static const double level[S_Q] = {500, 850, 500, 850}, zero = 0;
  int64_t at = 0;

  memset(s, 0, sizeof *s);
  for (int64_t i = 0; i < S_INIT_TIMES * S_LEADS * S_Q * S_M * S_P; i++) {
    const int64_t m = i / S_P % S_M, q = i / S_P / S_M % S_Q, l = i / S_P / S_M / S_Q % S_LEADS;

    s->forecast[i] = scene_forecast(i / S_P / S_M / S_Q / S_LEADS, l, q, m, i % S_P);
  }
  for (int64_t i = 0; i < S_TRUTHS * S_Q * S_P; i++) {
    s->truth[at++] = scene_truth(i / S_P / S_Q, i / S_P % S_Q, i % S_P);
  }
  for (int64_t i = 0; i < S_TRUTHS; i++) {
    s->start[i] = S_BEGIN + i * S_DAY;
  }
  for (int64_t q = 0; q < S_Q; q++) {
    s->quantity[q].kind = WX_LEVEL_PRESSURE;
    s->quantity[q].level = level[q];
    memcpy(s->quantity[q].variable, variable[q], 2);
    memcpy(s->quantity[q].units, q < 2 ? "m2 s-2" : "K", q < 2 ? 7 : 2);
    wx_quantity_complete(&s->quantity[q]);
  }
  for (int k = 0; k < S_M; k++) {
    s->member[k] = k;
    s->lon[k] = 90 * k;
    s->lat[k % S_LAT] = 60 - 60 * (k % S_LAT);
    s->lead[k % S_LEADS] = 24 * (k % S_LEADS);
  }
  wx_archive_info f = {.name = "scene",
                       .n_init_times = S_INIT_TIMES,
                       .n_leads = S_LEADS,
                       .n_members = S_M,
                       .n_quantities = S_Q,
                       .start = s->start,
                       .lead = s->lead,
                       .member = s->member,
                       .quantity = s->quantity,
                       .grid = {.kind = WX_GRID_LATLON,
                                .n_lat = S_LAT,
                                .n_lon = S_LON,
                                .lat = s->lat,
                                .lon = s->lon,
                                .wraps = true}};

  assert_ok(wx_archive_of_memory(&f, s->forecast, &s->of_forecast));
  f.n_init_times = S_TRUTHS;
  f.n_leads = f.n_members = 1;
  f.lead = &zero;
  assert_ok(wx_archive_of_memory(&f, s->truth, &s->of_truth));
}

static inline void scene_close(scene *s)
{
  wx_archive_close(&s->of_forecast);
  wx_archive_close(&s->of_truth);
}

/* Options of the section data from a YAML text; destroy the configuration at the end. */
static inline wx_data_opts scene_options(const char *yaml, weir_config **config)
{
  wx_data_opts o;

  assert_ok(weir_opts_parse(wx_data_options, sizeof o, yaml, &o, config));
  return o;
}
#endif

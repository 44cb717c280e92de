/* model_climate.h - what is usual for a quantity, at every lead: mean and standard deviation of the
 * whole grid, of each cell, and of the surroundings of each cell (LAS, local area-wise
 * standardisation, arXiv:2005.08748), and quantiles for the EFI. Of training initialisation times
 * alone; kept in a NetCDF-4 file with the initialisation times that it was made of. */
#ifndef WX_MODEL_CLIMATE_H
#define WX_MODEL_CLIMATE_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"

/* The standard deviation of LAS. */
typedef enum wx_las_sd {
  WX_LAS_YEARLY, /* that of each year, averaged over the years: the paper's */
  WX_LAS_POOLED, /* of all initialisation times together: greater by how much the yearly means
                    differ */
} wx_las_sd;
#define WX_LAS_SD_CHOICES "yearly|pooled"

typedef struct wx_model_climate_opts {
  int64_t members;   /* how many of the first members count; 0: all */
  int64_t window;    /* cells, odd */
  double smoothing;  /* cells */
  int sd;            /* wx_las_sd */
  int64_t quantiles; /* intervals of probability; 0: no quantiles */
  int64_t first;     /* number of the first member that quantiles are of */
} wx_model_climate_opts;
extern const weir_opt wx_model_climate_options[];

typedef struct wx_model_climate {
  int64_t n_leads, n_quantities, n_lat, n_lon, n_init_times;
  int64_t n_quantiles; /* k / n_quantiles, k = 0..n_quantiles; 0: none */
  double *lead;        /* hours */
  char *name;          /* [quantity, WX_SHORT] */
  int64_t *start;      /* seconds since 1970 */
  double *mean, *sd;   /* [lead, quantity], cells by area */
  /* [lead, quantity, lat, lon]; NaN where no value was there. sd: divisor n. */
  float *cell_mean, *cell_sd, *las_mean, *las_sd;
  int64_t n_members, *member; /* numbers of those that the quantiles are of */
  float *quantile;            /* [lead, quantity, n_quantiles + 1, lat, lon] */
  /* Of the truth that came at the lead, NULL: it was not given. sd: divisor n. */
  float *truth_mean, *truth_sd; /* [lead, quantity, lat, lon] */
  float *truth_quantile;        /* as quantile */
} wx_model_climate;

/* Checks the options. Fails: WEIR_ERR_CONFIG (an even window). */
weir_status wx_model_climate_check(const wx_model_climate_opts *opts) WEIR_CHECKED;
/* Computes the climate of the initialisation times start[n] (numbers, ascending) of an archive, and
 * of what came true (NULL: not known). Missing values are left out. Fails: WEIR_ERR_CONFIG (an even
 * window; no such members), as wx_archive_read, WEIR_ERR_STOPPED. */
weir_status wx_model_climate_fit(const wx_model_climate_opts *opts, wx_archive *a,
                                 wx_archive *truth, const int64_t *start, int64_t n,
                                 wx_model_climate *out) WEIR_CHECKED;
void wx_model_climate_fini(wx_model_climate *c);
/* Writes a climate to a file. Fails: as the NetCDF interface. */
weir_status wx_model_climate_write(const wx_model_climate *c, const char *path) WEIR_CHECKED;
/* Reads it: of one quantity at one lead (the arrays have these alone), or of all where name is
 * NULL. Fails: WEIR_ERR_DATA for a file that is no climate, naming what it lacks. */
weir_status wx_model_climate_read(const char *path, const char *name, double lead,
                                  wx_model_climate *out) WEIR_CHECKED;
/* Returns the number of a quantity of that name at that lead, -1: none; arrays [lead, quantity,
 * ...] have it at this position. */
int64_t wx_model_climate_find(const wx_model_climate *c, const char *name, double lead);
#endif

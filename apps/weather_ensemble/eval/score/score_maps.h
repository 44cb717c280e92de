/* score_maps.h - scores at each point as a CF NetCDF-4 file: mean over initialisation times of
 * CRPS, bias, RMSE and spread of every quantity, lead and model, and its skill relative to the
 * first reference with tests. */
#ifndef WX_SCORE_MAPS_H
#define WX_SCORE_MAPS_H
#include "eval/verify.h"

typedef struct wx_score_maps wx_score_maps;

/* What a map shows. */
// clang-format off
typedef enum wx_score_map {
  WX_SCORE_MAP_CRPS, WX_SCORE_MAP_BIAS, WX_SCORE_MAP_RMSE, WX_SCORE_MAP_SPREAD,
  WX_SCORE_MAP_SKILL, /* 1 - CRPS / CRPS of the reference                  */
  WX_SCORE_MAP_P,     /* of the test that both are the same (verify.h)     */
  WX_SCORE_MAPS
} wx_score_map;
// clang-format on

/* Starts a file; v is borrowed. Fails: as the NetCDF interface (WEIR_ERR_UNSUPPORTED without it).
 */
weir_status wx_score_maps_create(const char *path, const wx_verify *v,
                                 wx_score_maps **out) WEIR_CHECKED;
/* Adds what was scored last. */
weir_status wx_score_maps_add(wx_score_maps *m) WEIR_CHECKED;
/* Completes the file; *m is destroyed either way. */
weir_status wx_score_maps_commit(wx_score_maps **m) WEIR_CHECKED;
/* Removes what is not committed; accepts NULL. */
void wx_score_maps_abandon(wx_score_maps **m);
/* Computes a map (wx_score_map) of the quantity and lead scored last, [cells]; NaN where nothing
 * was scored, and in P and SKILL of the reference itself. */
void wx_score_map_get(const wx_verify *v, int64_t model, int map, double *out);
#endif

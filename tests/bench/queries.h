/* queries.h - queries on an ECG and an arterial pressure that benches run. */
#ifndef WEIR_BENCH_QUERIES_H
#define WEIR_BENCH_QUERIES_H
#include "stream/weir_series.h"

enum { QUERY_ECG = 500, QUERY_ABP = 125 }; /* Hz of the two inputs */

/* Adds a query to the graph of use; returns the number of values, out[0..]. */
typedef int (*query_builder)(const weir_series_use *use, weir_series *out);

/* Both inputs, side by side. */
int query_join(const weir_series_use *use, weir_series *out);
/* ABP: fill_mean, 500 Hz, normalize; ECG: fill_mean, normalize; joined. Windows of 60 s. */
int query_end_to_end(const weir_series_use *use, weir_series *out);
#endif

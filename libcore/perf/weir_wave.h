/* weir_wave.h - wave scaling: seconds of a kernel on another device, from those on one.
 *
 * Yu et al. 2021, "Habitat: A Runtime-Based Computational Performance Predictor for Deep Neural
 * Network Training", USENIX ATC, arXiv:2102.00527. */
#ifndef WEIR_WAVE_H
#define WEIR_WAVE_H
#ifdef __cplusplus
extern "C" {
#endif

/* A device as wave scaling sees it; all positive and finite. A wave is what runs at a time:
 * processors * resident_blocks. */
typedef struct weir_wave_device {
  double processors;      /* S: cores, or multiprocessors */
  double resident_blocks; /* of a processor */
  double rate;            /* C: of a processor, in a unit that both devices share. The paper takes
                             the clock; flop/s also counts the flops of a cycle */
  double bandwidth;       /* D: bytes/s of all processors together */
  double flop_rate;       /* peak flop/s of all processors together, in the dtype of the work */
} weir_wave_device;

/* Work of a kernel; none negative. flops, bytes: 0 both: not counted. blocks: independent blocks
 * into which it is divided, 0: not known, many. */
typedef struct weir_wave_work {
  double seconds, flops, bytes, blocks;
} weir_wave_work;

/* Returns the seconds on another device, `there`, of work that took w->seconds on `here`. gamma is
 * the share of memory in what limits the work there, in [0, 1] (primes: `there`; T: seconds, B:
 * blocks; x = flops / bytes; ridge R = flop_rate / bandwidth): 1 - x / (2 R') for x <= R', else
 * R' / (2 x). No flops: 1; flops and no bytes: 0.
 *
 * T' = T (D / D')^gamma (C / C')^(1 - gamma) (S / S')^(1 - gamma). Work of less than a wave on both
 * devices: T' = T ((C / C') ceil(B / S') / ceil(B / S))^(1 - gamma). Not counted: T' = T D / D'. */
double weir_wave_seconds(const weir_wave_work *w, const weir_wave_device *here,
                         const weir_wave_device *there);

#ifdef __cplusplus
}
#endif
#endif

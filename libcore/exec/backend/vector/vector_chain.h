/* vector_chain.h - chains of operations on accumulators that stay in vector registers; part of
 * vector_kernels.h. VM_BYTES: width of a vector register. */

/* The last n elements, fewer than a block. */
#define CHAIN_TAIL_CASE(name, expression)            \
  case VM_##name:                                    \
    for (int64_t i = 0; i < n; i++) {                \
      const __typeof__(acc[0]) a = acc[i], v = w[i]; \
      acc[i] = expression;                           \
      (void)v;                                       \
    }                                                \
    break;
#define CHAIN_TAIL(t, T)                                                                    \
  static void chain_tail_##t(const vm_chain *chain, T *dst, void *const *ptr, int64_t from, \
                             int64_t n)                                                     \
  {                                                                                         \
    T acc[4 * VM_BYTES / sizeof(T)];                                                        \
    memcpy(acc, (const T *)ptr[chain->first] + from, (size_t)n * sizeof(T));                \
    for (int32_t k = 0; k < chain->n; k++) {                                                \
      const vm_micro *m = &chain->micro[k];                                                 \
      const T c = (T)m->c, d = (T)m->d;                                                     \
      const T *w = m->reg >= 0 ? (const T *)ptr[m->reg] + from : acc;                       \
      (void)d;                                                                              \
      switch ((vm_micro_op)m->op) {                                                         \
        VM_MICRO_LIST(CHAIN_TAIL_CASE)                                                      \
      case VM_MICRO_COUNT:                                                                  \
        break;                                                                              \
      }                                                                                     \
    }                                                                                       \
    memcpy(dst + from, acc, (size_t)n * sizeof(T));                                         \
  }
#define PICK(condition, yes, no) ((condition) ? (yes) : (no))
#define MAGNITUDE(a) weir_abs_f32(a)
CHAIN_TAIL(f32, float)
#undef MAGNITUDE
#define MAGNITUDE(a) weir_abs_f64(a)
CHAIN_TAIL(f64, double)
#undef MAGNITUDE
#undef PICK

#define CHAIN_BLOCK_ONE(acc, at, expression)                            \
  {                                                                     \
    const __typeof__(a0) a = acc, v = needs ? CHAIN_LOAD(w + (at)) : a; \
    acc = expression;                                                   \
    (void)v;                                                            \
  }
#define CHAIN_BLOCK_CASE(name, expression)     \
  case VM_##name: {                            \
    const int needs = m->reg >= 0;             \
    CHAIN_BLOCK_ONE(a0, 0, expression)         \
    CHAIN_BLOCK_ONE(a1, width, expression)     \
    CHAIN_BLOCK_ONE(a2, 2 * width, expression) \
    CHAIN_BLOCK_ONE(a3, 3 * width, expression) \
    break;                                     \
  }
#define CHAIN(t, T, M)                                                                          \
  typedef T chain_##t __attribute__((vector_size(VM_BYTES)));                                   \
  typedef M chain_mask_##t __attribute__((vector_size(VM_BYTES)));                              \
  static inline chain_##t chain_pick_##t(chain_mask_##t m, chain_##t yes, chain_##t no)         \
  {                                                                                             \
    return (chain_##t)(((chain_mask_##t)yes & m) | ((chain_mask_##t)no & ~m));                  \
  }                                                                                             \
  static inline chain_##t chain_magnitude_##t(chain_##t x)                                      \
  {                                                                                             \
    const chain_mask_##t zero = {0}, sign = zero + ((M)1 << (8 * (int)sizeof(T) - 1));          \
    return (chain_##t)((chain_mask_##t)x & ~sign);                                              \
  }                                                                                             \
  static inline chain_##t chain_load_##t(const void *at)                                        \
  {                                                                                             \
    chain_##t x;                                                                                \
    memcpy(&x, at, sizeof x);                                                                   \
    return x;                                                                                   \
  }                                                                                             \
  static void chain_run_##t(const vm_chain *chain, void *to, void *const *ptr, int64_t n)       \
  {                                                                                             \
    enum { width = VM_BYTES / sizeof(T), block = 4 * width };                                   \
    const T *x = ptr[chain->first];                                                             \
    T *dst = to;                                                                                \
    int64_t i = 0;                                                                              \
    for (; i + block <= n; i += block) {                                                        \
      chain_##t a0 = chain_load_##t(x + i), a1 = chain_load_##t(x + i + width);                 \
      chain_##t a2 = chain_load_##t(x + i + 2 * width), a3 = chain_load_##t(x + i + 3 * width); \
      for (const vm_micro *m = chain->micro, *end = m + chain->n; m < end; m++) {               \
        const chain_##t zero = {0}, c = (T)m->c - zero, d = (T)m->d - zero;                     \
        const T *w = m->reg >= 0 ? (const T *)ptr[m->reg] + i : x;                              \
        switch ((vm_micro_op)m->op) {                                                           \
          VM_MICRO_LIST(CHAIN_BLOCK_CASE)                                                       \
        case VM_MICRO_COUNT:                                                                    \
          break;                                                                                \
        }                                                                                       \
      }                                                                                         \
      memcpy(dst + i, &a0, sizeof a0);                                                          \
      memcpy(dst + i + width, &a1, sizeof a1);                                                  \
      memcpy(dst + i + 2 * width, &a2, sizeof a2);                                              \
      memcpy(dst + i + 3 * width, &a3, sizeof a3);                                              \
    }                                                                                           \
    if (i < n) {                                                                                \
      chain_tail_##t(chain, dst, ptr, i, n - i);                                                \
    }                                                                                           \
  }
#define PICK chain_pick_f32
#define MAGNITUDE chain_magnitude_f32
#define CHAIN_LOAD chain_load_f32
CHAIN(f32, float, uint32_t)
#undef PICK
#undef MAGNITUDE
#undef CHAIN_LOAD
#define PICK chain_pick_f64
#define MAGNITUDE chain_magnitude_f64
#define CHAIN_LOAD chain_load_f64
CHAIN(f64, double, uint64_t)

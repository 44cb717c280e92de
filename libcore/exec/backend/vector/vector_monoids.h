/* vector_monoids.h - steps and merges of the monoids over rows of lanes or points; part of
 * vector_kernels.h. Fields of a partial result: acc[0] values, acc[1] and acc[2] as the monoid has
 * them (argmax, first, last: positions; moments: mean and M2 after the count; softmax: the sum).
 */

#define EACH for (int64_t i = 0; i < n; i++)

/* take and merge of a monoid with one field; a: partial, x: value, b: the other partial. */
#define MONOID_ONE(name, T, neutral_value, step)                        \
  static void neutral_##name(void *const *acc, int64_t n)               \
  {                                                                     \
    T *p = acc[0];                                                      \
    EACH                                                                \
    {                                                                   \
      p[i] = (neutral_value);                                           \
    }                                                                   \
  }                                                                     \
  static void merge_##name(void *const *pa, void *const *pb, int64_t n) \
  {                                                                     \
    T *p = pa[0];                                                       \
    const T *q = pb[0];                                                 \
    VM_LOOP EACH                                                        \
    {                                                                   \
      const T a = p[i], b = q[i];                                       \
      p[i] = step;                                                      \
    }                                                                   \
  }                                                                     \
  static void take_##name(void *const *acc, const vm_taken *t)          \
  {                                                                     \
    const T *x = t->x;                                                  \
    const int64_t n = t->n;                                             \
    T *p = acc[0];                                                      \
    if (t->keep != NULL) {                                              \
      for (int64_t r = 0; r < t->blocks; r++) {                         \
        VM_LOOP EACH                                                    \
        {                                                               \
          const T a = p[i], b = x[r * n + i], both = step;              \
          p[i] = t->keep[r * n + i] ? both : a;                         \
        }                                                               \
      }                                                                 \
    } else if (n == VM_LANES) {                                         \
      T lane[VM_LANES];                                                 \
      memcpy(lane, p, sizeof lane);                                     \
      for (int64_t r = 0; r < t->blocks; r++) {                         \
        for (int i = 0; i < VM_LANES; i++) {                            \
          const T a = lane[i], b = x[r * VM_LANES + i];                 \
          lane[i] = step;                                               \
        }                                                               \
      }                                                                 \
      memcpy(p, lane, sizeof lane);                                     \
    } else {                                                            \
      for (int64_t r = 0; r < t->blocks; r++) {                         \
        VM_LOOP EACH                                                    \
        {                                                               \
          const T a = p[i], b = x[r * n + i];                           \
          p[i] = step;                                                  \
        }                                                               \
      }                                                                 \
    }                                                                   \
  }

/* A monoid whose partial result is a structure S, stored as arrays: LOAD(p, i) gathers it, STORE
 * puts it back; element: the value of one iteration as a partial result or the stepped one. */
#define MONOID_MANY(name, T, S, FIELDS, LOAD, STORE, neutral_value, stepped, merged) \
  static void neutral_##name(void *const *acc, int64_t n)                            \
  {                                                                                  \
    FIELDS(T, p, acc)                                                                \
    EACH                                                                             \
    {                                                                                \
      const S a = neutral_value;                                                     \
      STORE(p, i, a)                                                                 \
    }                                                                                \
  }                                                                                  \
  static void merge_##name(void *const *pa, void *const *pb, int64_t n)              \
  {                                                                                  \
    FIELDS(T, p, pa)                                                                 \
    FIELDS(T, q, pb)                                                                 \
    VM_LOOP EACH                                                                     \
    {                                                                                \
      const S a = LOAD(p, i), b = LOAD(q, i), both = merged;                         \
      STORE(p, i, both)                                                              \
    }                                                                                \
  }                                                                                  \
  static void take_##name(void *const *acc, const vm_taken *t)                       \
  {                                                                                  \
    const T *values = t->x;                                                          \
    const int64_t n = t->n;                                                          \
    FIELDS(T, p, acc)                                                                \
    for (int64_t r = 0; r < t->blocks; r++) {                                        \
      VM_LOOP EACH                                                                   \
      {                                                                              \
        const int64_t at = t->at + (r * n + i) * t->at_step;                         \
        const T x = values[r * n + i];                                               \
        const S a = LOAD(p, i), both = stepped;                                      \
        const S kept = t->keep == NULL || t->keep[r * n + i] ? both : a;             \
        (void)at;                                                                    \
        STORE(p, i, kept)                                                            \
      }                                                                              \
    }                                                                                \
  }

#define AT_FIELDS(T, p, acc) \
  T *p##0 = (acc)[0];        \
  int64_t *p##1 = (acc)[1];
#define AT_LOAD(p, i)  \
  {                    \
    p##0 [i], p##1 [i] \
  }
#define AT_STORE(p, i, a) \
  p##0 [i] = (a).value;   \
  p##1 [i] = (a).at;
#define MOMENTS_FIELDS(T, p, acc) T *p##0 = (acc)[0], *p##1 = (acc)[1], *p##2 = (acc)[2];
#define MOMENTS_LOAD(p, i)       \
  {                              \
    p##0 [i], p##1 [i], p##2 [i] \
  }
#define MOMENTS_STORE(p, i, a) \
  p##0 [i] = (a).n;            \
  p##1 [i] = (a).mean;         \
  p##2 [i] = (a).m2;
#define SOFTMAX_FIELDS(T, p, acc) T *p##0 = (acc)[0], *p##1 = (acc)[1];
#define SOFTMAX_LOAD(p, i) \
  {                        \
    p##0 [i], p##1 [i]     \
  }
#define SOFTMAX_STORE(p, i, a) \
  p##0 [i] = (a).max;          \
  p##1 [i] = (a).sum;

#define MONOIDS_ANY(t, T)                                                                      \
  MONOID_ONE(max_##t, T, weir_least_##t(), weir_highest_##t(a, b))                             \
  MONOID_ONE(min_##t, T, weir_greatest_##t(), weir_lowest_##t(a, b))                           \
  MONOID_MANY(argmax_##t, T, weir_at_##t, AT_FIELDS, AT_LOAD, AT_STORE,                        \
              ((weir_at_##t){weir_least_##t(), -1}), weir_argmax_##t(a, (weir_at_##t){x, at}), \
              weir_argmax_##t(a, b))                                                           \
  MONOID_MANY(first_##t, T, weir_at_##t, AT_FIELDS, AT_LOAD, AT_STORE, ((weir_at_##t){0, -1}), \
              weir_first_##t(a, (weir_at_##t){x, at}), weir_first_##t(a, b))                   \
  MONOID_MANY(last_##t, T, weir_at_##t, AT_FIELDS, AT_LOAD, AT_STORE, ((weir_at_##t){0, -1}),  \
              weir_last_##t(a, (weir_at_##t){x, at}), weir_last_##t(a, b))
#define MONOIDS_NUMBER(t, T)                    \
  MONOIDS_ANY(t, T)                             \
  MONOID_ONE(sum_##t, T, 0, weir_add_##t(a, b)) \
  MONOID_ONE(prod_##t, T, 1, weir_mul_##t(a, b))
#define MONOIDS_FLOAT(t, T)                                                                  \
  MONOIDS_NUMBER(t, T)                                                                       \
  MONOID_MANY(moments_##t, T, weir_moments_##t, MOMENTS_FIELDS, MOMENTS_LOAD, MOMENTS_STORE, \
              ((weir_moments_##t){0, 0, 0}), weir_moments_step_##t(a, x),                    \
              weir_moments_merge_##t(a, b))                                                  \
  MONOID_MANY(softmax_##t, T, weir_softmax_##t, SOFTMAX_FIELDS, SOFTMAX_LOAD, SOFTMAX_STORE, \
              ((weir_softmax_##t){weir_least_##t(), 0}),                                     \
              weir_softmax_merge_##t(a, (weir_softmax_##t){x, 1}), weir_softmax_merge_##t(a, b))
MONOIDS_FLOAT(f32, float)
MONOIDS_FLOAT(f64, double)
MONOIDS_NUMBER(i8, int8_t)
MONOIDS_NUMBER(u8, uint8_t)
MONOIDS_NUMBER(i16, int16_t)
MONOIDS_NUMBER(i32, int32_t)
MONOIDS_NUMBER(i64, int64_t)
MONOIDS_ANY(bool, uint8_t)

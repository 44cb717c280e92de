/* weir_tier.h - the engines that run generated loops, by number. */
#ifndef WEIR_TIER_H
#define WEIR_TIER_H
#ifdef __cplusplus
extern "C" {
#endif

/* Values of the option exec.tier, which tables of times hold as numbers (weir_times.h); an engine
 * has one of the last three. */
typedef enum weir_tier {
  WEIR_TIER_AUTO, /* the last engine that this build and machine have */
  WEIR_TIER_REFERENCE,
  WEIR_TIER_VECTOR,
  WEIR_TIER_NATIVE,
} weir_tier;

/* As the option spells it. */
static inline const char *weir_tier_name(weir_tier tier)
{
  static const char *const names[] = {"auto", "reference", "vector", "native"};

  return names[tier];
}

/* What events and reports hold of an engine: 0, 1, 2 from the reference on. */
static inline int weir_tier_number(weir_tier tier)
{
  return (int)tier - WEIR_TIER_REFERENCE;
}

#ifdef __cplusplus
}
#endif
#endif

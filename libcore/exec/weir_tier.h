/* weir_tier.h - the engines for generated loops, by number. */
#ifndef WEIR_TIER_H
#define WEIR_TIER_H
#ifdef __cplusplus
extern "C" {
#endif

/* Values of the option exec.tier; an engine has one of the last three.
 *
 * Files hold them in two numberings, both of which stay as they are. Keys of tables of times
 * (weir_profile.h) are made with the value of the option as it stands here: auto 0, reference 1,
 * vector 2, native 3. Events and reports hold the engine that ran: reference 0, vector 1, native 2
 * (weir_tier_number). */
typedef enum weir_tier {
  WEIR_TIER_AUTO, /* the last engine available in this build and on this machine */
  WEIR_TIER_REFERENCE,
  WEIR_TIER_VECTOR,
  WEIR_TIER_NATIVE,
} weir_tier;

/* Returns the name of an engine, as in the option. */
static inline const char *weir_tier_name(weir_tier tier)
{
  static const char *const names[] = {"auto", "reference", "vector", "native"};

  return names[tier];
}

/* Returns the number of an engine in events and reports, 0 to 2; not for auto. */
static inline int weir_tier_number(weir_tier tier)
{
  return (int)tier - WEIR_TIER_REFERENCE;
}

#ifdef __cplusplus
}
#endif
#endif

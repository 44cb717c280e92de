/* beat_features.h - what tells the classes of beats apart, and the linear discriminant that does.
 */
#ifndef PS_BEAT_FEATURES_H
#define PS_BEAT_FEATURES_H

/* Features of a beat, after de Chazal, O'Dwyer and Reilly, IEEE Trans. Biomed. Eng. 51 (2004) 1196.
 */
typedef enum ps_beat_feature {
  PS_FEATURE_PRE,    /* ln(interval before / median of those before it) */
  PS_FEATURE_POST,   /* ln(interval after / that median)                */
  PS_FEATURE_BEFORE, /* ln(interval before the one before / it)         */
  PS_FEATURE_WIDTH,  /* s, of the QRS complex                           */
  PS_FEATURE_SHAPE,  /* correlation with the mean beat                  */
  PS_FEATURE_HEIGHT, /* ln(peak to peak / that of the mean beat)        */
  PS_FEATURE_P,      /* 1: with a P wave, else 0                        */
  PS_FEATURES
} ps_beat_feature;
extern const char *const ps_feature_name[PS_FEATURES];

/* Classes of ANSI/AAMI EC57: normal and bundle branch block, supraventricular ectopic, ventricular
 * ectopic, fusion of ventricular and normal. */
typedef enum ps_beat_class {
  PS_CLASS_N,
  PS_CLASS_S,
  PS_CLASS_V,
  PS_CLASS_F,
  PS_CLASSES
} ps_beat_class;

/* Unit of a stream of classes, 1 + PS_CLASS_N and so on. */
#define PS_CLASS_UNIT "beat_class"
/* Weights of a discriminant: of each class a constant and a number for each feature. The class of a
 * beat is the one with the largest sum. */
enum { PS_CLASS_WEIGHTS = PS_CLASSES * (1 + PS_FEATURES) };
#endif

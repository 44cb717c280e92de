/* normal.h - the normal distribution and Student's, as scores and tests need them. */
#ifndef WX_NORMAL_H
#define WX_NORMAL_H

#define WX_INV_SQRT_PI 0.56418958354775628695
#define WX_SQRT_2 1.41421356237309504880

/* Return the density, and the probability below and above z; the tails keep their relative
 * accuracy. */
double wx_normal_density(double z);
double wx_normal_below(double z);
double wx_normal_above(double z);
/* Return, for z >= 5, the probability above z over the density there (Mills ratio), and the
 * integrals above z of that probability over the density and of its square over the squared
 * density. */
double wx_normal_mills(double z);
double wx_normal_first(double z);
double wx_normal_square(double z);
/* Returns z below which lies the probability p in (0, 1): Wichura's PPND16 (Applied Statistics 37
 * (1988) 477, AS 241), relative error 1e-16. 0 and 1 give -inf and +inf; NaN outside [0, 1]. */
double wx_normal_quantile(double p);
/* Returns the probability that |t| of Student's distribution with dof > 0 degrees of freedom is
 * exceeded. */
double wx_student_two_sided(double t, double dof);
#endif

/* Which attributes are counted or summed together, in one table of all combinations of their codes. */
#ifndef NBCFAST_PLANS_H
#define NBCFAST_PLANS_H

#include <stdint.h>

typedef struct {
    int64_t n_groups, n_straight;
    int64_t *first;      /* n_groups + 1: where a group's attributes start in `members` */
    int64_t *members;    /* attribute numbers, group by group */
    int64_t *offset;     /* n_groups + 1: entries of the tables before a group's */
    int64_t *straight;   /* attributes in no group */
} nbc_plan;

#endif

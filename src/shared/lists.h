/* Lists that grow: NBC_GROW(name, type) declares the list `name` and name_more(list, more), which makes room. */
#ifndef NBCFAST_LISTS_H
#define NBCFAST_LISTS_H

#include <stdint.h>
#include <stdlib.h>

#define NBC_NO_MEMORY (-1)

#define NBC_GROW(NAME, TYPE)                                                                \
    typedef struct { TYPE *at; int64_t n, room; } NAME;                                     \
    static int NAME##_more(NAME *list, int64_t more)                                        \
    {                                                                                       \
        if (more < 0 || more > (INT64_MAX >> 8) / (int64_t)sizeof(TYPE))                     \
            return NBC_NO_MEMORY;                                                           \
        if (list->n + more > list->room) {                                                  \
            int64_t room = 2 * list->room + more + 64;                                      \
            TYPE *at = (TYPE *)realloc(list->at, (size_t)room * sizeof(TYPE));              \
            if (at == NULL)                                                                 \
                return NBC_NO_MEMORY;                                                       \
            list->at = at;                                                                  \
            list->room = room;                                                              \
        }                                                                                   \
        return 0;                                                                           \
    }

#endif

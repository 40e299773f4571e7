/* What a process under callgrind tells it: from here to there is a job, and this is its name. */
#include <valgrind/callgrind.h>

void nbc_begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
}

void nbc_end(const char *name)
{
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION; /* what is between two jobs runs fast */
}

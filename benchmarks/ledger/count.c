/* Counts under callgrind, by requests that do nothing anywhere else. */
#include <time.h>
#include <valgrind/callgrind.h>

extern void *PyObject_CallNoArgs(void *callable);

/* What the call returns; its counts go to a dump of that name. Caches are cold when it begins. */
void *counted(const char *name, void *call)
{
    void *result;
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    result = PyObject_CallNoArgs(call);
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
    return result;
}

/* Of the processor as valgrind shows it; no version of valgrind knows AVX-512. */
const char *vectors(void)
{
    return __builtin_cpu_supports("avx2") ? "avx2" : "baseline";
}

/* A microsecond a call, for what is counted looks at the clock: the size of a block depends on how
 * long the last one took, and so would the count on what else the machine does. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static long long n;
    (void)clock;
    n++;
    now->tv_sec = n / 1000000;
    now->tv_nsec = n % 1000000 * 1000;
    return 0;
}

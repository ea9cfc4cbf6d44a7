/* Memory that takes up what is written of it.
 *
 * NumPy asks Linux for pages of 2 MiB from 4 MiB on. An arena has room for the most that a learner
 * may need: a multiclass learner's parts, each with a little at the beginning of large arrays, then
 * had all their bytes cleared and resident, which took longer than to learn.
 */
#ifndef EDGESVM_SMALL_PAGES_H
#define EDGESVM_SMALL_PAGES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

static void in_small_pages(char *p, size_t n)
{
#if defined(__linux__) && defined(MADV_NOHUGEPAGE)
    const size_t page = 1 << 16;        /* no Linux has larger ones */
    char *first = (char *)(((uintptr_t)p + page - 1) / page * page);
    if (n >= (size_t)1 << 22)
        (void)madvise(first, (size_t)(p + n - first) / page * page, MADV_NOHUGEPAGE);
#else
    (void)p, (void)n;
#endif
}

#endif

/* LD_PRELOAD library: counts the C library's allocator calls and forwards them (glibc only).
 *
 * alloc_preload_start() sets the marker, alloc_preload_stop() ends the count; both are called by ctypes.
 * Only the thread that set the marker is counted, so a helper thread cannot blur an exact figure.
 */
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static _Thread_local int counting __attribute__((tls_model("initial-exec")));
static unsigned long long taken, freed;

void alloc_preload_start(void) { taken = freed = 0; counting = 1; }
void alloc_preload_stop(void) { counting = 0; }
unsigned long long alloc_preload_taken(void) { return taken; }
unsigned long long alloc_preload_freed(void) { return freed; }

void *malloc(size_t size) { taken += counting; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { taken += counting; return __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { taken += counting; return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { taken += counting; return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { taken += counting; return __libc_memalign(alignment, size); }
void *valloc(size_t size) { taken += counting; return __libc_memalign(4096, size); }
void *pvalloc(size_t size) { taken += counting; return __libc_memalign(4096, (size + 4095) & ~(size_t)4095); }
void free(void *block) { freed += counting; __libc_free(block); }

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) { errno = ENOMEM; return NULL; }
    return realloc(block, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *p;
    if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1)) return EINVAL;
    taken += counting;
    p = __libc_memalign(alignment, size);
    if (!p) return ENOMEM;
    *block = p;
    return 0;
}

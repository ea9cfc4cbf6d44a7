/* Counts what CPython's allocators are asked for: each of the three domains is wrapped and forwarded.
 *
 * alloc_hooks_start() installs the hooks, alloc_hooks_stop() removes them; both are called by ctypes, with the GIL.
 * C code that calls malloc itself is not seen: alloc_preload.c sees that.
 */
#include <stddef.h>

typedef struct {
    void *ctx;
    void *(*malloc)(void *ctx, size_t size);
    void *(*calloc)(void *ctx, size_t count, size_t size);
    void *(*realloc)(void *ctx, void *block, size_t size);
    void (*free)(void *ctx, void *block);
} Allocator; /* PyMemAllocatorEx */

extern void PyMem_GetAllocator(int domain, Allocator *allocator);
extern void PyMem_SetAllocator(int domain, Allocator *allocator);

static Allocator original[3];
static unsigned long long taken, freed;

static void *counted_malloc(void *ctx, size_t size) { Allocator *a = ctx; taken++; return a->malloc(a->ctx, size); }
static void *counted_calloc(void *ctx, size_t n, size_t size) { Allocator *a = ctx; taken++; return a->calloc(a->ctx, n, size); }
static void *counted_realloc(void *ctx, void *block, size_t size) { Allocator *a = ctx; taken++; return a->realloc(a->ctx, block, size); }
static void counted_free(void *ctx, void *block) { Allocator *a = ctx; freed++; a->free(a->ctx, block); }

void alloc_hooks_start(void)
{
    for (int i = 0; i < 3; i++) {
        Allocator wrapper = {&original[i], counted_malloc, counted_calloc, counted_realloc, counted_free};
        PyMem_GetAllocator(i, &original[i]);
        PyMem_SetAllocator(i, &wrapper);
    }
    taken = freed = 0;
}

void alloc_hooks_stop(void)
{
    for (int i = 0; i < 3; i++) PyMem_SetAllocator(i, &original[i]);
}

unsigned long long alloc_hooks_taken(void) { return taken; }
unsigned long long alloc_hooks_freed(void) { return freed; }

"""Counts what CPython's allocators are asked for: each of three domains is wrapped and forwarded.

``start()`` installs the hooks, ``stop()`` removes them and returns the counts; nothing in between
allocates here.
C code that calls malloc itself is not seen (`take_in_c` shows it); `alloc_preload.c` sees that.
Counts are plain integers: they are exact as long as no second thread allocates meanwhile.
"""

cdef extern from "Python.h" nogil:
    ctypedef enum PyMemAllocatorDomain:
        PYMEM_DOMAIN_RAW
        PYMEM_DOMAIN_MEM
        PYMEM_DOMAIN_OBJ

    ctypedef struct PyMemAllocatorEx:
        void *ctx
        void *(*malloc)(void *ctx, size_t size) noexcept nogil
        void *(*calloc)(void *ctx, size_t count, size_t size) noexcept nogil
        void *(*realloc)(void *ctx, void *block, size_t size) noexcept nogil
        void (*free)(void *ctx, void *block) noexcept nogil

    void PyMem_GetAllocator(PyMemAllocatorDomain domain, PyMemAllocatorEx *allocator)
    void PyMem_SetAllocator(PyMemAllocatorDomain domain, PyMemAllocatorEx *allocator)

cdef extern from *:
    """
    #include <stdlib.h>

    /* volatile: GCC deletes a malloc whose block is only freed */
    static void *volatile block;

    static void take_and_free_in_c(void) { block = malloc(24); free(block); }

    static void take_and_free_in_domains(void)
    {
        block = PyMem_RawMalloc(24); PyMem_RawFree(block);
        block = PyMem_Malloc(24); PyMem_Free(block);
        block = PyObject_Malloc(24); PyObject_Free(block);
    }
    """
    void take_and_free_in_c() noexcept
    void take_and_free_in_domains() noexcept

cdef PyMemAllocatorDomain[3] DOMAINS = [PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ]
cdef PyMemAllocatorEx[3] original
cdef unsigned long long taken = 0   # malloc, calloc and realloc of all domains
cdef unsigned long long freed = 0
cdef bint hooked = False


cdef void *counted_malloc(void *ctx, size_t size) noexcept nogil:
    global taken
    cdef PyMemAllocatorEx *forward = <PyMemAllocatorEx *> ctx
    taken += 1
    return forward.malloc(forward.ctx, size)


cdef void *counted_calloc(void *ctx, size_t count, size_t size) noexcept nogil:
    global taken
    cdef PyMemAllocatorEx *forward = <PyMemAllocatorEx *> ctx
    taken += 1
    return forward.calloc(forward.ctx, count, size)


cdef void *counted_realloc(void *ctx, void *block, size_t size) noexcept nogil:
    global taken
    cdef PyMemAllocatorEx *forward = <PyMemAllocatorEx *> ctx
    taken += 1
    return forward.realloc(forward.ctx, block, size)


cdef void counted_free(void *ctx, void *block) noexcept nogil:
    global freed
    cdef PyMemAllocatorEx *forward = <PyMemAllocatorEx *> ctx
    freed += 1
    forward.free(forward.ctx, block)


def start():
    """Install the hooks and count from zero."""
    global taken, freed, hooked
    cdef PyMemAllocatorEx wrapper
    cdef int i
    if hooked:
        raise RuntimeError("already counting")
    for i in range(3):
        PyMem_GetAllocator(DOMAINS[i], &original[i])
        wrapper.ctx = &original[i]
        wrapper.malloc = counted_malloc
        wrapper.calloc = counted_calloc
        wrapper.realloc = counted_realloc
        wrapper.free = counted_free
        PyMem_SetAllocator(DOMAINS[i], &wrapper)
    hooked = True
    taken = freed = 0


def stop():
    """Remove the hooks; (blocks taken, blocks freed) since `start`."""
    global hooked
    cdef int i
    if not hooked:
        raise RuntimeError("not counting")
    for i in range(3):
        PyMem_SetAllocator(DOMAINS[i], &original[i])
    hooked = False
    return taken, freed


def take_in_c(x):
    """Positive control of the preload counter: one malloc and free in C, unseen by the hooks."""
    take_and_free_in_c()


def take_in_domains(x):
    """Positive control of the hooks: one block taken and freed in each of the three domains."""
    take_and_free_in_domains()


def take_by_view(const double[::1] x):
    """What a learner must not do: a typed memoryview of an ndarray takes three blocks a call."""
    return None

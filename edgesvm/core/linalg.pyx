"""Access to linalg.pxd from Python, for tests."""

ctypedef fused real_const:
    const float
    const double


def dot_view(real_const[::1] x, real_const[::1] z):
    """x @ z"""
    check_lengths(x.shape[0], z.shape[0])
    if x.shape[0] == 0:
        return 0.0
    return dot(&x[0], &z[0], x.shape[0])


def dot_square_view(real_const[::1] x, real_const[::1] w):
    """(x @ w, x @ x)"""
    check_lengths(x.shape[0], w.shape[0])
    if x.shape[0] == 0:
        return 0.0, 0.0
    cdef float f_xw, f_xx
    cdef double d_xw, d_xx
    if real_const is float:
        dot_square(&x[0], &w[0], x.shape[0], &f_xw, &f_xx)
        return f_xw, f_xx
    else:
        dot_square(&x[0], &w[0], x.shape[0], &d_xw, &d_xx)
        return d_xw, d_xx


def dot_square_rows_view(real_const[:, ::1] X, real_const[::1] w, bint apart=False):
    """(X @ w)[:4] and (X * X).sum(axis=1)[:4]; with `apart`, each found by itself"""
    cdef float[BLOCK] f_xw
    cdef float[BLOCK] f_xx
    cdef double[BLOCK] d_xw
    cdef double[BLOCK] d_xx
    check_lengths(X.shape[1], w.shape[0])
    if X.shape[0] < BLOCK or X.shape[1] == 0:
        raise ValueError(f"{X.shape[0]} rows of {X.shape[1]} numbers")
    if real_const is float:
        if apart:
            dot_rows(&X[0, 0], &w[0], X.shape[1], X.shape[0], f_xw)
            square_rows(&X[0, 0], X.shape[1], X.shape[0], f_xx)
        else:
            dot_square_rows(&X[0, 0], &w[0], X.shape[1], X.shape[0], f_xw, f_xx)
        return list(f_xw), list(f_xx)
    else:
        if apart:
            dot_rows(&X[0, 0], &w[0], X.shape[1], X.shape[0], d_xw)
            square_rows(&X[0, 0], X.shape[1], X.shape[0], d_xx)
        else:
            dot_square_rows(&X[0, 0], &w[0], X.shape[1], X.shape[0], d_xw, d_xx)
        return list(d_xw), list(d_xx)


def square_distance_view(real_const[::1] x, real_const[::1] z):
    """((x - z) ** 2).sum()"""
    check_lengths(x.shape[0], z.shape[0])
    if x.shape[0] == 0:
        return 0.0
    return square_distance(&x[0], &z[0], x.shape[0])


cdef int check_lengths(Py_ssize_t n, Py_ssize_t m) except -1:
    if n != m:
        raise ValueError(f"vectors of lengths {n} and {m}")
    return 0

"""Decimal text to float32 or float64: ``[+-] digits [. digits] [e [+-] digits]``.

There must be a digit before or after the point, which may be a comma. With up to 15 significant
digits and a power of ten from -22 to 22, the result is the float32 nearest to the decimal (ties to
even): mantissa and power are exact in float64, and one multiplication or division rounds once
(Clinger 1990, the fast path).
Rounding again to float32 can only go wrong on a tie, where the residual of the first rounding,
computed exactly with fma, tells which side the decimal is on. Beyond these limits, 19 digits are
used and each factor of at most 1e22 rounds in float64. The result is then the nearest float32
unless the decimal lies within about 1e-14 of the midpoint between two float32 values; there it may
be the other one. As float64, a decimal within these limits is the nearest one, others are off by a
few units in the last place.
"""

from libc.math cimport INFINITY, fma
from libc.stdint cimport uint8_t, uint64_t

cdef double[23] POWER_OF_TEN
POWER_OF_TEN[:] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22]

cdef enum:
    LARGEST_POWER = 22      # float64 holds powers of ten up to 1e22 exactly
    EXACT_BITS = 53         # of an integer that it holds exactly
    MANTISSA_DIGITS = 19    # the most that fit in 64 bits
    FAR = 400               # 10**400 takes any 19 digits to infinity, 10**-400 to zero


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return c"0" <= c <= c"9"


cdef inline uint8_t lower(uint8_t c) noexcept nogil:
    return c | 0x20


cdef bint is_special(const uint8_t *text, Py_ssize_t n) noexcept nogil:
    """Is this nan, inf, infinity or ovf, in upper or lower case?"""
    if n == 8:
        return (is_special(text, 3) and lower(text[0]) == c"i" and lower(text[3]) == c"i"
                and lower(text[4]) == c"n" and lower(text[5]) == c"i"
                and lower(text[6]) == c"t" and lower(text[7]) == c"y")
    if n != 3:
        return False
    cdef uint8_t a = lower(text[0]), b = lower(text[1]), c = lower(text[2])
    return ((a == c"n" and b == c"a" and c == c"n")
            or (a == c"i" and b == c"n" and c == c"f")
            or (a == c"o" and b == c"v" and c == c"f"))


cdef double scaled(uint64_t mantissa, int power) noexcept nogil:
    """float64(mantissa * 10**power), each factor of at most 1e22 rounded."""
    cdef double value = <double> mantissa
    while power > LARGEST_POWER:
        value *= POWER_OF_TEN[LARGEST_POWER]
        power -= LARGEST_POWER
    while power < -LARGEST_POWER:
        value /= POWER_OF_TEN[LARGEST_POWER]
        power += LARGEST_POWER
    return value * POWER_OF_TEN[power] if power >= 0 else value / POWER_OF_TEN[-power]


cdef float nearest(uint64_t mantissa, int power) noexcept nogil:
    """float32(mantissa * 10**power), rounded as the module's docstring says."""
    cdef double exact = <double> mantissa
    cdef double value, residual
    cdef float one, other
    if mantissa >> EXACT_BITS or power > LARGEST_POWER or power < -LARGEST_POWER:
        return <float> scaled(mantissa, power)
    if power >= 0:
        value = exact * POWER_OF_TEN[power]
        residual = fma(exact, POWER_OF_TEN[power], -value)
    else:
        value = exact / POWER_OF_TEN[-power]
        residual = -fma(value, POWER_OF_TEN[-power], -exact)
    one = <float> value
    if residual == 0 or one == value or one == INFINITY:
        return one
    other = nextafterf(one, INFINITY if value > one else 0)
    if <double> one + <double> other != 2 * value:
        return one
    # value is exactly the midpoint, and residual has the sign of (decimal - value)
    return max(one, other) if residual > 0 else min(one, other)


cdef Number scan(const uint8_t *text, Py_ssize_t n, uint64_t *digits, int *exponent_of_ten,
                 bint *negative) noexcept nogil:
    """Read the number ``digits * 10**exponent_of_ten`` and its sign."""
    cdef Py_ssize_t i = 0
    cdef uint64_t mantissa = 0
    cdef int significant = 0, power = 0, exponent = 0, exponent_sign = 1
    cdef bint point = False, any_digit = False
    negative[0] = False
    if i < n and (text[i] == c"-" or text[i] == c"+"):
        negative[0] = text[i] == c"-"
        i += 1
    if is_special(text + i, n - i):
        return NOT_FINITE
    while i < n:
        if is_digit(text[i]):
            any_digit = True
            if significant < MANTISSA_DIGITS:
                mantissa = 10 * mantissa + (text[i] - c"0")
                significant += mantissa > 0
                power -= point
            else:
                power += not point
        elif (text[i] == c"." or text[i] == c",") and not point:
            point = True
        else:
            break
        i += 1
    if not any_digit:
        return BAD_CHARACTER
    if i < n and lower(text[i]) == c"e":
        i += 1
        if i < n and (text[i] == c"-" or text[i] == c"+"):
            exponent_sign = -1 if text[i] == c"-" else 1
            i += 1
        if i == n:
            return BAD_CHARACTER
        while i < n and is_digit(text[i]):
            exponent = min(10 * exponent + (text[i] - c"0"), 9999)
            i += 1
    if i < n:
        return BAD_CHARACTER
    digits[0] = mantissa
    exponent_of_ten[0] = max(-FAR, min(FAR, power + exponent_sign * exponent))
    return GOOD


cdef Number parse(const uint8_t *text, Py_ssize_t n, bint is_float32, double *value) noexcept nogil:
    """The value in float64, or the one of float32."""
    cdef uint64_t mantissa = 0
    cdef int power = 0
    cdef bint negative = False
    cdef Number number = scan(text, n, &mantissa, &power, &negative)
    if number != GOOD:
        return number
    if mantissa == 0:
        value[0] = 0
    else:
        value[0] = nearest(mantissa, power) if is_float32 else scaled(mantissa, power)
    if value[0] == INFINITY:
        return NOT_FINITE
    if negative:
        value[0] = -value[0]
    return GOOD


cdef Number parse_float32(const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil:
    cdef double exact = 0
    cdef Number number = parse(text, n, True, &exact)
    if number == GOOD:
        value[0] = <float> exact
    return number


cdef Number parse_float64(const uint8_t *text, Py_ssize_t n, double *value) noexcept nogil:
    return parse(text, n, False, value)


def parse_float64_view(const uint8_t[::1] text):
    """The float64 value of `text` as a float, or "bad_char" or "bad_value" if it has none."""
    cdef double value = 0
    cdef Number number
    if text.shape[0] == 0:
        return "bad_char"
    number = parse_float64(&text[0], text.shape[0], &value)
    if number == GOOD:
        return value
    return "bad_char" if number == BAD_CHARACTER else "bad_value"


def parse_float32_view(const uint8_t[::1] text):
    """The float32 value of `text` as a float, or "bad_char" or "bad_value" if it has none."""
    cdef float value = 0
    cdef Number number
    if text.shape[0] == 0:
        return "bad_char"
    number = parse_float32(&text[0], text.shape[0], &value)
    if number == GOOD:
        return <double> value
    return "bad_char" if number == BAD_CHARACTER else "bad_value"

"""Decimal text to float32: ``[+-] digits [. digits] [e [+-] digits]``.

There must be a digit before or after the point. With up to 15 significant digits and a power of ten
from -22 to 22, the result is the float32 nearest to the decimal (ties to even): mantissa and power
are exact in float64, and one multiplication or division rounds once (Clinger 1990, the fast path).
Rounding again to float32 can only go wrong on a tie, where the residual of the first rounding,
computed exactly with fma, tells which side the decimal is on. Beyond these limits, 19 digits are
used and each factor of at most 1e22 rounds in float64. The result is then the nearest float32
unless the decimal lies within about 1e-14 of the midpoint between two float32 values; there it may
be the other one.

Digits are read eight at a time, as bytes of one integer (Lemire 2021, "Number parsing at a gigabyte
per second").
"""

from libc.math cimport INFINITY, fma
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from edgesvm.link._siphash cimport load_u64

cdef extern from *:
    int ctz "__builtin_ctzll" (uint64_t bits) noexcept nogil

cdef double[23] POWER_OF_TEN
POWER_OF_TEN[:] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22]
cdef float[2] SIGN
SIGN[:] = [1.0, -1.0]
cdef uint64_t[9] TEN_TO
TEN_TO[:] = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000]

cdef enum:
    LARGEST_POWER = 22      # float64 holds powers of ten up to 1e22 exactly
    EXACT_BITS = 53         # of an integer that it holds exactly
    MANTISSA_DIGITS = 19    # the most that fit in 64 bits
    LEAST_EXPONENT = 897    # of a float64 that is a normal float32, 2**-126 or more
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


cdef inline bint is_no_tie(double value) noexcept nogil:
    """Whether `value`, >= 0, is certainly no midpoint: of the 29 bits that float32 does not have,
    those of a midpoint are 1 and zeros."""
    cdef uint64_t bits
    memcpy(&bits, &value, sizeof(bits))
    return bits >> 52 >= LEAST_EXPONENT and bits & 0x1FFFFFFFULL != 0x10000000ULL


cdef float nearest(uint64_t mantissa, int power) noexcept nogil:
    """float32(mantissa * 10**power), rounded as the module's docstring says."""
    cdef double exact = <double> mantissa
    cdef double value, residual
    cdef float one, other
    if mantissa >> EXACT_BITS or power > LARGEST_POWER or power < -LARGEST_POWER:
        value = exact
        while power > LARGEST_POWER:
            value *= POWER_OF_TEN[LARGEST_POWER]
            power -= LARGEST_POWER
        while power < -LARGEST_POWER:
            value /= POWER_OF_TEN[LARGEST_POWER]
            power += LARGEST_POWER
        return <float> (value * POWER_OF_TEN[power] if power >= 0 else value / POWER_OF_TEN[-power])
    if power >= 0:
        value = exact * POWER_OF_TEN[power]
        if is_no_tie(value):
            return <float> value
        residual = fma(exact, POWER_OF_TEN[power], -value)
    else:
        value = exact / POWER_OF_TEN[-power]
        if is_no_tie(value):
            return <float> value
        residual = -fma(value, POWER_OF_TEN[-power], -exact)
    one = <float> value
    if residual == 0 or one == value or one == INFINITY:
        return one
    other = nextafterf(one, INFINITY if value > one else 0)
    if <double> one + <double> other != 2 * value:
        return one
    # value is exactly the midpoint, and residual has the sign of (decimal - value)
    return max(one, other) if residual > 0 else min(one, other)


cdef inline float fraction(uint64_t mantissa, Py_ssize_t digits) noexcept nogil:
    """`nearest` of mantissa / 10**digits, for 0 to 19 digits behind the point."""
    cdef double value
    if mantissa >> EXACT_BITS == 0:
        value = <double> <int64_t> mantissa / POWER_OF_TEN[digits]
        if is_no_tie(value):
            return <float> value
    return nearest(mantissa, -<int> digits)


cdef inline int digits_of(uint64_t text) noexcept nogil:
    """How many digits 8 bytes begin with, the first byte lowest."""
    cdef uint64_t digit = text ^ 0x3030303030303030ULL     # 0 to 9 in the byte of a digit
    cdef uint64_t other = (digit + 0x7676767676767676ULL | digit) & 0x8080808080808080ULL
    return 8 if other == 0 else ctz(other) >> 3


cdef inline int eight_digits(uint64_t text, uint64_t *mantissa) noexcept nogil:
    """Append the digits that 8 bytes begin with; how many there are."""
    cdef uint64_t digit = text ^ 0x3030303030303030ULL
    cdef int n = digits_of(text)
    digit = digit << 4 * (8 - n) << 4 * (8 - n)         # zeros in front
    digit = 10 * digit + (digit >> 8)                   # numbers of two digits in every other byte
    digit = ((digit & 0x000000FF000000FFULL) * 0x000F424000000064ULL
             + (digit >> 16 & 0x000000FF000000FFULL) * 0x0000271000000001ULL) >> 32
    mantissa[0] = mantissa[0] * TEN_TO[n] + digit
    return n


cdef inline Py_ssize_t parse_digits(
        const uint8_t *text, Py_ssize_t n, uint64_t *mantissa) noexcept nogil:
    """Append the digits that `text` begins with; how many, or some more than 19 if there are."""
    cdef Py_ssize_t i = 0
    cdef int found
    while n - i >= 8 and i <= MANTISSA_DIGITS:
        found = eight_digits(load_u64(text + i), mantissa)
        i += found
        if found < 8:
            return i
    while i < n and i <= MANTISSA_DIGITS and is_digit(text[i]):
        mantissa[0] = 10 * mantissa[0] + (text[i] - c"0")
        i += 1
    return i


cdef inline Py_ssize_t parse_short(
        const uint8_t *text, Py_ssize_t n, uint64_t *mantissa, Py_ssize_t *behind) noexcept nogil:
    """Up to 7 digits, a point and digits, 15 at most: their integer, how many are behind the point,
    and the bytes read; 0: `text` begins with something else, or ends within 9 bytes."""
    cdef uint64_t word, ahead
    cdef Py_ssize_t found, more = 0
    cdef int before
    if n < 9:
        return 0
    word = load_u64(text)
    before = digits_of(word)
    if before == 8 or text[before] != c".":
        return 0
    ahead = (<uint64_t> 1 << 8 * before) - 1
    mantissa[0] = 0
    found = eight_digits(word & ahead | load_u64(text + 1) & ~ahead, mantissa)   # without the point
    if found == 8 and n >= 17:
        more = eight_digits(load_u64(text + 9), mantissa)
    elif found == 8:
        more = parse_digits(text + 9, n - 9, mantissa)
    behind[0] = found + more - before
    return found + more + 1 if found > 0 and more < 8 else 0


cdef inline Py_ssize_t parse_long(
        const uint8_t *text, Py_ssize_t n, uint64_t *mantissa, Py_ssize_t *behind) noexcept nogil:
    """The same of any digits, 19 at most, with a point or without."""
    cdef Py_ssize_t i
    mantissa[0] = behind[0] = 0
    i = parse_digits(text, n, mantissa)
    if i <= MANTISSA_DIGITS and i < n and text[i] == c".":
        behind[0] = parse_digits(text + i + 1, n - i - 1, mantissa)
        return i + 1 + behind[0] if 0 < i + behind[0] <= MANTISSA_DIGITS else 0
    return i if i <= MANTISSA_DIGITS else 0


cdef inline Py_ssize_t read_plain(
        const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil:
    cdef uint64_t mantissa = 0
    cdef Py_ssize_t length, behind = 0
    cdef bint negative, is_signed
    if n <= 0:
        return 0
    negative = text[0] == c"-"
    is_signed = negative | (text[0] == c"+")
    length = parse_short(text + is_signed, n - is_signed, &mantissa, &behind)
    if length == 0:
        length = parse_long(text + is_signed, n - is_signed, &mantissa, &behind)
    if length == 0:
        return 0
    value[0] = SIGN[negative] * fraction(mantissa, behind)
    return length + is_signed


cdef Py_ssize_t parse_plain(const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil:
    return read_plain(text, n, value)


cdef bint parse_plain_row(
        const uint8_t *text, Py_ssize_t n, uint8_t separator, Py_ssize_t columns,
        float *values) noexcept nogil:
    cdef Py_ssize_t column, length, i = 0
    for column in range(columns):
        length = read_plain(text + i, n - i, values + column)
        i += length + 1
        if length == 0 or (i <= n and text[i - 1] != separator):
            return False
    return i == n + 1


cdef Number parse_float32(const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil:
    cdef Py_ssize_t i = 0
    cdef uint64_t mantissa = 0
    cdef int significant = 0, power = 0, exponent = 0, exponent_sign = 1
    cdef bint negative = False, point = False, any_digit = False
    if i < n and (text[i] == c"-" or text[i] == c"+"):
        negative = text[i] == c"-"
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
        elif text[i] == c"." and not point:
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
    power = max(-FAR, min(FAR, power + exponent_sign * exponent))
    value[0] = 0 if mantissa == 0 else nearest(mantissa, power)
    if value[0] == INFINITY:
        return NOT_FINITE
    if negative:
        value[0] = -value[0]
    return GOOD


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


def parse_plain_view(const uint8_t[::1] text):
    """The float32 value of the plain decimal that `text` begins with, and its bytes."""
    cdef float value = 0
    cdef Py_ssize_t n = parse_plain(&text[0], text.shape[0], &value) if text.shape[0] else 0
    return (<double> value, n)

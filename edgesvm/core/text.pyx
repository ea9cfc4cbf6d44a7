"""Numbers as text, and what else is in a line of them, on a link or in a file."""

from libc.math cimport INFINITY, NAN, fma
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr, memcmp, strstr

# What stands for a value that is missing, in lower case.
cdef const char *NO_VALUE = (
    b" ? - -- na n/a #n/a nan nan(ind) -nan(ind) null none err error #value! ")
cdef enum:
    LONGEST_WORD = 9
    ESCAPE = 27     # begins a terminal's commands
cdef const char *GAPS = b" \t,;|"      # between cells
cdef const char *ENDS = b' \t,;|}]"%'   # what may follow a unit
cdef const char *DEGREE = b"\xc2\xb0"


# Decimal text to float32 or float64: ``[+-] digits [. digits] [e [+-] digits]``; no locale, no
# hexadecimal.
#
# There must be a digit before or after the point, which may be a comma. With up to 15 significant
# digits and a power of ten from -22 to 22, the result is the float32 nearest to the decimal (ties
# to even): mantissa and power are exact in float64, and one multiplication or division rounds once
# (Clinger 1990, the fast path). Rounding again to float32 can only go wrong on a tie, where the
# residual of the first rounding, computed exactly with fma, tells which side the decimal is on.
# Beyond these limits, 19 digits are used and each factor of at most 1e22 rounds in float64. The
# result is then the nearest float32 unless the decimal lies within about 1e-14 of the midpoint
# between two float32 values; there it may be the other one.

cdef extern from "<math.h>" nogil:
    float nextafterf(float x, float y) noexcept

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
    """float32(mantissa * 10**power), rounded as above."""
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


cdef Py_ssize_t count_of(uint8_t c, const uint8_t *line, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, found = 0
    for i in range(n):
        found += line[i] == c
    return found


cdef bint is_missing(const uint8_t *text, Py_ssize_t n) noexcept nogil:
    """Does this stand for a value that is missing? So does nothing at all."""
    cdef char[LONGEST_WORD + 3] word
    cdef Py_ssize_t i
    if not 1 <= n <= LONGEST_WORD or memchr(text, c" ", n) != NULL:
        return n == 0
    word[0] = word[n + 1] = c" "
    word[n + 2] = 0
    for i in range(n):
        word[i + 1] = lower(text[i]) if is_letter(text[i]) else text[i]
    return strstr(NO_VALUE, word) != NULL


cdef bint read_number(const uint8_t *text, Py_ssize_t n, bint comma, double *value) except -1:
    """Read a number with blanks around it: the float64 nearest to the decimal, infinite, or NaN
    for what is missing. A comma is a point only if `comma`."""
    cdef uint64_t mantissa = 0
    cdef int power = 0
    cdef bint negative = False
    cdef Number number
    while n and is_blank(text[0]):
        text, n = text + 1, n - 1
    while n and is_blank(text[n - 1]):
        n -= 1
    number = scan(text, n, &mantissa, &power, &negative)
    value[0] = NAN
    if number == BAD_CHARACTER or not comma and memchr(text, c",", n) != NULL:
        return is_missing(text, n)
    if number == NOT_FINITE:
        value[0] = INFINITY if lower(text[not is_letter(text[0])]) == c"i" else NAN
    elif mantissa >> EXACT_BITS == 0 and -LARGEST_POWER <= power <= LARGEST_POWER:
        value[0] = scaled(mantissa, power)
    else:
        value[0] = abs(float((<const char *> text)[:n].replace(b",", b".")))
    if negative:
        value[0] = -value[0]
    return True


cdef Py_ssize_t tidy(const uint8_t *line, Py_ssize_t n, uint8_t *out) noexcept nogil:
    """A line without names, units, brackets and quotes of JSON, a terminal's colours, and the
    number of a sample; its length, at most `n`."""
    cdef Py_ssize_t i = 0, m = 0, begin, end
    cdef uint8_t last = c","
    while i < n:
        end = i
        if line[i] == ESCAPE or i == 0 and line[i] == c"@":
            while end < n and not (is_letter(line[end]) or is_blank(line[end])):
                end += 1
            end += 1
        elif memchr(b'{}[]"%', line[i], 6) != NULL:
            end += 1
        elif is_letter(line[i]) and memchr(GAPS, last, 5) != NULL:      # a name, perhaps
            while end < n and memchr(b" \t,;|:=", line[end], 7) == NULL:
                end += 1
            while end < n and is_blank(line[end]):
                end += 1
            end = end + 1 if end < n and (line[end] == c":" or line[end] == c"=") else i
            while i < end < n and is_blank(line[end]):
                end += 1
        elif is_digit(last):    # a unit, perhaps
            end += is_blank(line[i])
            end += 2 if n - end > 1 and memcmp(line + end, DEGREE, 2) == 0 else 0
            begin = end
            while i < end < n and is_letter(line[end]):
                end += 1
            if (end - begin > 3 or end - i < 2
                    or end < n and memchr(ENDS, line[end], 9) == NULL):
                end = i
        if end == i:
            out[m] = last = line[i]
            m += 1
            end += 1
        i = end
    return m


def tidied(str line):
    """A line made tidy."""
    cdef bytes text = line.encode()
    cdef bytearray out = bytearray(len(text) + 1)
    return out[:tidy(text, len(text), out)].decode()

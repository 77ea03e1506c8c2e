/* The digits of a number, written backward from end; both functions return where
 * they start. */
#ifndef DIGITS_H
#define DIGITS_H

/* Digits of 64 bits in octal. */
#define DIGITS_MAX 22

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

static inline char *decimal_digits(char *end, unsigned long value)
{
    while (value >= 100) {
        const char *pair = digit_pairs + value % 100 * 2;
        value /= 100;
        *--end = pair[1];
        *--end = pair[0];
    }
    if (value >= 10) {
        *--end = digit_pairs[value * 2 + 1];
        *--end = digit_pairs[value * 2];
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

static inline char *power_digits(char *end, unsigned long value, unsigned bits, const char *digits)
{
    do {
        *--end = digits[value & ((1u << bits) - 1)];
        value >>= bits;
    } while (value);
    return end;
}

#endif

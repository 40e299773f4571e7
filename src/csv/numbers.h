/* Texts that are numbers as Python writes them. */
#ifndef NBCFAST_CSV_NUMBERS_H
#define NBCFAST_CSV_NUMBERS_H

#include <stdint.h>

#define NBC_CSV_LONGEST_FLOAT 25  /* no float is written with more letters */

enum { NBC_CSV_IS_NONE = 0, NBC_CSV_IS_NUMBER = 1, NBC_CSV_ASK = 2 };

/* Whether a text is 0, or digits without a leading zero, possibly after a minus, that 64 bits hold. */
static int nbc_csv_integer(const uint8_t *text, uint64_t n, int64_t *number)
{
    const int negative = n > 1 && text[0] == '-';
    const uint64_t most = ((uint64_t)1 << 63) - !negative;
    uint64_t value = 0, at = (uint64_t)negative;
    if (n - at < 1 || n - at > 19 || (text[at] == '0' && n > 1))
        return NBC_CSV_IS_NONE;
    for (; at < n; at++) {
        if (text[at] < '0' || text[at] > '9')
            return NBC_CSV_IS_NONE;
        value = 10 * value + (uint64_t)(text[at] - '0');  /* nineteen digits are less than 2^64 */
    }
    if (value > most)
        return NBC_CSV_IS_NONE;
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return NBC_CSV_IS_NUMBER;
}

/* Whether a text is how Python writes that float, or an integer of at most 2^53 in size; or else whether Python has
   to be asked. Of at most 15 digits each text says another float, and digits over a power of ten up to 10^22 are
   rounded once. */
static int nbc_csv_float(const uint8_t *text, uint64_t n, double *number)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t whole;
    if (nbc_csv_integer(text, n, &whole)) {
        *number = (double)whole;
        return whole >= -((int64_t)1 << 53) && whole <= (int64_t)1 << 53 ? NBC_CSV_IS_NUMBER : NBC_CSV_IS_NONE;
    }
    if (n == 0 || n > NBC_CSV_LONGEST_FLOAT)
        return NBC_CSV_IS_NONE;
    uint64_t at = text[0] == '-', point = n, value = 0;
    const uint64_t begin = at;
    int digits = 0, zeros = 0;
    for (; at < n; at++) {
        const uint8_t letter = text[at];
        if (letter == '.' && point == n)
            point = at;
        else if (letter >= '0' && letter <= '9') {
            value = digits < 16 ? 10 * value + (uint64_t)(letter - '0') : value;
            if (digits || letter != '0')
                digits++;
            else if (point < n)
                zeros++;
        } else if (letter == 'e' || letter == '+' || letter == '-' || letter == '.')
            return NBC_CSV_ASK;
        else
            return NBC_CSV_IS_NONE;
    }
    if (point == n)
        return NBC_CSV_IS_NONE;  /* digits alone that are no integer as above */
    const uint64_t before = point - begin, after = n - point - 1;
    if (before < 1 || after < 1 || (text[begin] == '0' && before > 1) || (text[n - 1] == '0' && after > 1))
        return NBC_CSV_IS_NONE;
    if (digits > 15 || (digits && before == 1 && text[begin] == '0' && zeros > 3))
        return NBC_CSV_ASK;
    *number = (double)value / powers[after];
    if (begin)
        *number = -*number;
    return NBC_CSV_IS_NUMBER;
}

#endif

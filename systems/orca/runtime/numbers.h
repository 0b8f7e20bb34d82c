// Values that hold nothing: numbers, characters, truth values, names of nodes, records of these.
#define ORCA_PLAIN(T)                                                                              \
    enum { T##_flat = 1 };                                                                         \
    static inline void T##_free(T *x) {                                                            \
        (void)x;                                                                                   \
    }                                                                                              \
    static inline T T##_copy(const T *x) {                                                         \
        return *x;                                                                                 \
    }                                                                                              \
    static inline void T##_put(orca_writer *writer, const T *x) {                                  \
        orca_put(writer, x, sizeof *x);                                                            \
    }                                                                                              \
    static inline bool T##_get(orca_reader *reader, T *x) {                                        \
        return orca_get(reader, x, sizeof *x);                                                     \
    }

#define ORCA_SCALAR(T)                                                                             \
    ORCA_PLAIN(T)                                                                                  \
    static inline int T##_compare(const T *x, const T *y) {                                        \
        return (*x > *y) - (*x < *y);                                                              \
    }

// Assignments of values that hold something.
#define ORCA_ASSIGN(T)                                                                             \
    static inline void T##_assign(T *to, const T *from) {                                          \
        if (to != from) {                                                                          \
            T copy = T##_copy(from);                                                               \
            T##_free(to);                                                                          \
            *to = copy;                                                                            \
        }                                                                                          \
    }                                                                                              \
    ORCA_MOVE(T)

// What from holds becomes to's; from is empty then.
#define ORCA_MOVE(T)                                                                               \
    static inline void T##_move(T *to, T *from) {                                                  \
        T##_free(to);                                                                              \
        *to = *from;                                                                               \
        memset(from, 0, sizeof *from);                                                             \
    }                                                                                              \
    static inline T *T##_hold(T *slot, T value) {                                                  \
        T##_free(slot);                                                                            \
        *slot = value;                                                                             \
        return slot;                                                                               \
    }                                                                                              \
    static inline T T##_take(T *slot) {                                                            \
        T value = *slot;                                                                           \
        memset(slot, 0, sizeof *slot);                                                             \
        return value;                                                                              \
    }

typedef int64_t orca_integer;
typedef double orca_real;
typedef unsigned char orca_boolean;
typedef uint32_t orca_char;
typedef uint64_t orca_node;
ORCA_SCALAR(orca_integer)
ORCA_SCALAR(orca_real)
ORCA_SCALAR(orca_boolean)
ORCA_SCALAR(orca_char)
ORCA_SCALAR(orca_node)

// Integers wrap around, in arithmetic modulo 2^64.
static inline int64_t orca_add(int64_t x, int64_t y) {
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static inline int64_t orca_subtract(int64_t x, int64_t y) {
    return (int64_t)((uint64_t)x - (uint64_t)y);
}

static inline int64_t orca_multiply(int64_t x, int64_t y) {
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

static inline int64_t orca_divide(int64_t x, int64_t y, const char *at) {
    if (y == 0)
        orca_fail(at, "%lld is divided by 0", (long long)x);
    return y == -1 ? orca_subtract(0, x) : x / y;
}

static inline int64_t orca_remainder(int64_t x, int64_t y, const char *at) {
    if (y == 0)
        orca_fail(at, "%lld is divided by 0", (long long)x);
    return y == -1 ? 0 : x % y;
}

static inline int64_t orca_min(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static inline int64_t orca_max(int64_t x, int64_t y) {
    return x > y ? x : y;
}

static inline int64_t orca_abs(int64_t x) {
    return x < 0 ? orca_subtract(0, x) : x;
}

static inline double orca_min_real(double x, double y) {
    return x < y ? x : y;
}

static inline double orca_max_real(double x, double y) {
    return x > y ? x : y;
}

// An integer that a real becomes; what is too large for one is an error.
static inline int64_t orca_truncated(double x, const char *at) {
    if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0))
        orca_fail(at, "%g is no integer of 64 bits", x);
    return (int64_t)x;
}

static inline uint32_t orca_chr(int64_t number, const char *at) {
    if (number < 0 || number > 0x10ffff || (number >= 0xd800 && number < 0xe000))
        orca_fail(at, "no character has the number %lld", (long long)number);
    return (uint32_t)number;
}

static inline int64_t orca_last(int64_t last, const char *at) {
    if (last == INT64_MAX)
        orca_fail(at, "a `for` that counts to the largest integer has no next one");
    return last;
}

_Noreturn static void orca_outside(const char *at, int64_t index, int64_t first, int64_t count) {
    if (count == 0)
        orca_fail(at, "index %lld of an array without elements", (long long)index);
    orca_fail(at, "index %lld is outside %lld..%lld", (long long)index, (long long)first,
              (long long)orca_add(first, count - 1));
}

// Place of an index among count from first on.
static inline size_t orca_index(int64_t index, int64_t first, int64_t count, const char *at) {
    uint64_t place = (uint64_t)index - (uint64_t)first;
    if (place >= (uint64_t)count)
        orca_outside(at, index, first, count);
    return (size_t)place;
}

// True if all of first..last are among count indices from lower on; there is one at least.
static inline bool orca_inside(int64_t first, int64_t last, int64_t lower, int64_t count) {
    uint64_t from = (uint64_t)first - (uint64_t)lower, to = (uint64_t)last - (uint64_t)lower;
    return from <= to && to < (uint64_t)count;
}

// Number of indices of first..last.
static inline int64_t orca_count(int64_t first, int64_t last, const char *at) {
    if (last < first)
        return 0;
    uint64_t count = (uint64_t)last - (uint64_t)first;
    if (count >= (uint64_t)1 << 48)
        orca_fail(at, "an array from %lld to %lld is too large", (long long)first, (long long)last);
    return (int64_t)count + 1;
}

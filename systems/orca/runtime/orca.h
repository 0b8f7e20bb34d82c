// Run-time support of the C that orcac makes: values, their copies, and how they travel.
//
// Each type T of a program has these functions, made by a macro for its kind:
//
//   T_free(x)         gives back what x holds; x is to be assigned or forgotten then
//   T_copy(x)         a copy that holds nothing of x's
//   T_compare(x, y)   less than, equal to or greater than 0: an order of all values
//   T_put(writer, x)  appends x to what travels
//   T_get(reader, x)  reads x; false if there is none, and then x holds nothing
//
// A value that is all zero is the value with which a variable begins: no number, no element, no
// node. A variable holds its value: nobody else frees or changes it.
#include "weft-objects.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A mistake of the program: says what and where, and ends the job.
_Noreturn static void orca_fail(const char *at, const char *format, ...) {
    va_list values;
    va_start(values, format);
    fflush(stdout);
    flockfile(stderr);
    fprintf(stderr, "orca: %s: ", at);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(values);
    _Exit(1);
}

static void *orca_memory(size_t bytes) {
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        orca_fail("memory", "there are no %zu bytes left", bytes);
    return memory;
}

// Values that travel: pieces, each from a multiple of 8 bytes on. Long arrays are gathered where
// they lie (thesis 7.1.3); everything else is copied into chunks, which never move.
enum { ORCA_CHUNK = 4096, ORCA_GATHERED = 256 };

typedef struct orca_chunk {
    struct orca_chunk *before;
    size_t used, room;
    double bytes[];
} orca_chunk;

typedef struct {
    orca_chunk *chunk;
    weft_iov *pieces;
    size_t count, room, length;
    // True where objects travel with their states, and not as numbers.
    bool deep;
} orca_writer;

static size_t orca_padded(size_t bytes) {
    return (bytes + 7) & ~(size_t)7;
}

static void orca_piece(orca_writer *writer, const void *start, size_t bytes) {
    if (writer->count == writer->room) {
        writer->room = writer->room > 0 ? 2 * writer->room : 8;
        weft_iov *pieces = realloc(writer->pieces, writer->room * sizeof *pieces);
        if (pieces == NULL)
            orca_fail("memory", "there is no room for an operation's arguments");
        writer->pieces = pieces;
    }
    writer->pieces[writer->count].base = start;
    writer->pieces[writer->count++].length = bytes;
    writer->length += bytes;
}

// Room for so many bytes, at the end of what was written so far.
static void *orca_append(orca_writer *writer, size_t bytes) {
    orca_chunk *chunk = writer->chunk;
    size_t padded = orca_padded(bytes);
    if (chunk == NULL || chunk->room - chunk->used < padded) {
        size_t room = padded > ORCA_CHUNK ? padded : ORCA_CHUNK;
        chunk = orca_memory(sizeof *chunk + room);
        chunk->before = writer->chunk;
        chunk->room = room;
        writer->chunk = chunk;
    }
    char *start = (char *)chunk->bytes + chunk->used;
    chunk->used += padded;
    weft_iov *last = writer->count > 0 ? &writer->pieces[writer->count - 1] : NULL;
    if (last != NULL && (const char *)last->base + last->length == start) {
        last->length += padded;
        writer->length += padded;
    } else {
        orca_piece(writer, start, padded);
    }
    return start;
}

static void orca_put(orca_writer *writer, const void *value, size_t bytes) {
    memcpy(orca_append(writer, bytes), value, bytes);
}

// Elements that hold nothing, which stay as they are until the writer is ended.
static void orca_put_flat(orca_writer *writer, const void *elements, size_t bytes) {
    if (bytes >= ORCA_GATHERED && bytes % 8 == 0)
        orca_piece(writer, elements, bytes);
    else if (bytes > 0)
        orca_put(writer, elements, bytes);
}

static void orca_end(orca_writer *writer) {
    while (writer->chunk != NULL) {
        orca_chunk *before = writer->chunk->before;
        free(writer->chunk);
        writer->chunk = before;
    }
    free(writer->pieces);
}

// All that was written, as the result of an operation or the state of an object.
static void orca_finish(orca_writer *writer, weft_result *result) {
    char *to = writer->length > 0 ? weft_result_extend(result, writer->length) : NULL;
    for (size_t i = 0; i < writer->count; i++) {
        memcpy(to, writer->pieces[i].base, writer->pieces[i].length);
        to += writer->pieces[i].length;
    }
    orca_end(writer);
}

// Values that arrived, aligned to 8 bytes.
typedef struct {
    const char *at;
    size_t left;
    bool deep;
} orca_reader;

// The next bytes where they lie; null if there are fewer.
static const void *orca_view(orca_reader *reader, size_t bytes) {
    size_t padded = orca_padded(bytes);
    if (bytes > reader->left || padded > reader->left)
        return NULL;
    const void *start = reader->at;
    reader->at += padded;
    reader->left -= padded;
    return start;
}

static bool orca_get(orca_reader *reader, void *value, size_t bytes) {
    const void *start = orca_view(reader, bytes);
    if (start == NULL) {
        memset(value, 0, bytes);
        return false;
    }
    memcpy(value, start, bytes);
    return true;
}

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

// Arrays: D dimensions, each with its first index and its number of indices.
#define ORCA_ARRAY(T, E, D)                                                                        \
    typedef struct {                                                                               \
        int64_t lower[D], count[D];                                                                \
        E *at;                                                                                     \
    } T;                                                                                           \
    enum { T##_flat = 0 };                                                                         \
    static inline size_t T##_size(const T *x) {                                                    \
        size_t size = (size_t)x->count[0];                                                         \
        for (int d = 1; d < D; d++)                                                                \
            size *= (size_t)x->count[d];                                                           \
        return size;                                                                               \
    }                                                                                              \
    static inline void T##_free(T *x) {                                                            \
        if (!E##_flat)                                                                             \
            for (size_t i = 0, size = T##_size(x); i < size; i++)                                  \
                E##_free(&x->at[i]);                                                               \
        free(x->at);                                                                               \
    }                                                                                              \
    static inline void T##_fill(T *x, const T *from) {                                             \
        size_t size = T##_size(from);                                                              \
        if (E##_flat && size > 0)                                                                  \
            memcpy(x->at, from->at, size * sizeof *x->at);                                         \
        else                                                                                       \
            for (size_t i = 0; i < size; i++)                                                      \
                x->at[i] = E##_copy(&from->at[i]);                                                 \
    }                                                                                              \
    static T T##_copy(const T *from) {                                                             \
        T x = *from;                                                                               \
        size_t size = T##_size(from);                                                              \
        x.at = size > 0 ? orca_memory(size * sizeof *x.at) : NULL;                                 \
        T##_fill(&x, from);                                                                        \
        return x;                                                                                  \
    }                                                                                              \
    static inline void T##_assign(T *to, const T *from) {                                          \
        if (to == from)                                                                            \
            return;                                                                                \
        size_t size = T##_size(from);                                                              \
        if (E##_flat && size > 0 && T##_size(to) == size) {                                        \
            memcpy(to->lower, from->lower, sizeof to->lower);                                      \
            memcpy(to->count, from->count, sizeof to->count);                                      \
            T##_fill(to, from);                                                                    \
            return;                                                                                \
        }                                                                                          \
        T copy = T##_copy(from);                                                                   \
        T##_free(to);                                                                              \
        *to = copy;                                                                                \
    }                                                                                              \
    ORCA_MOVE(T)                                                                                   \
    static int T##_compare(const T *x, const T *y) {                                               \
        for (int d = 0; d < D; d++) {                                                              \
            int order = orca_integer_compare(&x->lower[d], &y->lower[d]);                          \
            order = order != 0 ? order : orca_integer_compare(&x->count[d], &y->count[d]);         \
            if (order != 0)                                                                        \
                return order;                                                                      \
        }                                                                                          \
        int order = 0;                                                                             \
        for (size_t i = 0, size = T##_size(x); i < size && order == 0; i++)                        \
            order = E##_compare(&x->at[i], &y->at[i]);                                             \
        return order;                                                                              \
    }                                                                                              \
    /* Elements with these bounds, all zero. */                                                    \
    static T T##_make(const int64_t bounds[2 * D], const char *where) {                            \
        T x;                                                                                       \
        size_t size = 1;                                                                           \
        for (int d = 0; d < D; d++) {                                                              \
            x.lower[d] = bounds[2 * d];                                                            \
            x.count[d] = orca_count(bounds[2 * d], bounds[2 * d + 1], where);                      \
            if (x.count[d] > 0 && size > ((size_t)1 << 48) / (size_t)x.count[d])                   \
                orca_fail(where, "an array is too large");                                         \
            size *= (size_t)x.count[d];                                                            \
        }                                                                                          \
        x.at = size > 0 ? orca_memory(size * sizeof *x.at) : NULL;                                 \
        return x;                                                                                  \
    }                                                                                              \
    /* The elements themselves, in one dimension from 0 on. */                                     \
    static inline T T##_of(int64_t size, const E *elements) {                                      \
        int64_t bounds[2 * D] = {0, size - 1};                                                     \
        T x = T##_make(bounds, "elements");                                                        \
        if (size > 0)                                                                              \
            memcpy(x.at, elements, (size_t)size * sizeof *elements);                               \
        return x;                                                                                  \
    }                                                                                              \
    static void T##_put(orca_writer *writer, const T *x) {                                         \
        orca_put(writer, x->lower, sizeof x->lower);                                               \
        orca_put(writer, x->count, sizeof x->count);                                               \
        size_t size = T##_size(x);                                                                 \
        if (E##_flat)                                                                              \
            orca_put_flat(writer, x->at, size * sizeof *x->at);                                    \
        else                                                                                       \
            for (size_t i = 0; i < size; i++)                                                      \
                E##_put(writer, &x->at[i]);                                                        \
    }                                                                                              \
    /* Bounds that arrived; false if what follows is too short for as many elements. */            \
    static bool T##_bounds(orca_reader *reader, T *x) {                                            \
        memset(x, 0, sizeof *x);                                                                   \
        T found = *x;                                                                              \
        if (!orca_get(reader, found.lower, sizeof found.lower) ||                                  \
            !orca_get(reader, found.count, sizeof found.count))                                    \
            return false;                                                                          \
        size_t least = E##_flat ? sizeof *x->at : 1, most = reader->left / least;                  \
        size_t size = 1;                                                                           \
        for (int d = 0; d < D; d++) {                                                              \
            if (found.count[d] < 0 || (uint64_t)found.count[d] > most)                             \
                return false;                                                                      \
            if (found.count[d] > 0 && size > most / (size_t)found.count[d])                        \
                return false;                                                                      \
            size *= (size_t)found.count[d];                                                        \
        }                                                                                          \
        *x = found;                                                                                \
        return true;                                                                               \
    }                                                                                              \
    static bool T##_get(orca_reader *reader, T *x) {                                               \
        if (!T##_bounds(reader, x))                                                                \
            return false;                                                                          \
        size_t size = T##_size(x);                                                                 \
        x->at = size > 0 ? orca_memory(size * sizeof *x->at) : NULL;                               \
        bool good = true;                                                                          \
        if (E##_flat)                                                                              \
            good = size == 0 || orca_get(reader, x->at, size * sizeof *x->at);                     \
        else                                                                                       \
            for (size_t i = 0; i < size && good; i++)                                              \
                good = E##_get(reader, &x->at[i]);                                                 \
        return good;                                                                               \
    }                                                                                              \
    /* An array of values that hold nothing, where it lies among what arrived. */                  \
    static inline bool T##_lend(orca_reader *reader, T *x) {                                       \
        if (!E##_flat)                                                                             \
            return T##_get(reader, x);                                                             \
        if (!T##_bounds(reader, x))                                                                \
            return false;                                                                          \
        size_t size = T##_size(x);                                                                 \
        x->at = size > 0 ? (E *)(uintptr_t)orca_view(reader, size * sizeof *x->at) : NULL;         \
        return size == 0 || x->at != NULL;                                                         \
    }                                                                                              \
    static inline void T##_lent(T *x) {                                                            \
        if (!E##_flat)                                                                             \
            T##_free(x);                                                                           \
    }

// Last index of a dimension.
#define ORCA_LAST(x, d) orca_subtract(orca_add((x)->lower[d], (x)->count[d]), 1)

// Strings are arrays of characters, from index 0 on.
ORCA_ARRAY(orca_text, orca_char, 1)

static orca_text orca_join(const orca_text *x, const orca_text *y) {
    int64_t bounds[2] = {0, x->count[0] + y->count[0] - 1};
    orca_text joined = orca_text_make(bounds, "strings");
    if (x->count[0] > 0)
        memcpy(joined.at, x->at, (size_t)x->count[0] * sizeof *x->at);
    if (y->count[0] > 0)
        memcpy(joined.at + x->count[0], y->at, (size_t)y->count[0] * sizeof *y->at);
    return joined;
}

// Strings as a dictionary has them, by the numbers of their characters.
static int orca_text_order(const orca_text *x, const orca_text *y) {
    for (int64_t i = 0; i < x->count[0] && i < y->count[0]; i++)
        if (x->at[i] != y->at[i])
            return x->at[i] < y->at[i] ? -1 : 1;
    return orca_integer_compare(&x->count[0], &y->count[0]);
}

// Sets and bags: elements in order. A bag has those that are equal beside one another.
#define ORCA_SET(T, E, IS_BAG)                                                                     \
    typedef struct {                                                                               \
        int64_t size, room;                                                                        \
        E *at;                                                                                     \
    } T;                                                                                           \
    enum { T##_flat = 0 };                                                                         \
    static void T##_free(T *x) {                                                                   \
        for (int64_t i = 0; i < x->size && !E##_flat; i++)                                         \
            E##_free(&x->at[i]);                                                                   \
        free(x->at);                                                                               \
    }                                                                                              \
    static void T##_reserve(T *x, int64_t room) {                                                  \
        if (room <= x->room)                                                                       \
            return;                                                                                \
        room = room > 2 * x->room ? room : 2 * x->room;                                            \
        E *at = orca_memory((size_t)room * sizeof *at);                                            \
        if (x->size > 0)                                                                           \
            memcpy(at, x->at, (size_t)x->size * sizeof *at);                                       \
        free(x->at);                                                                               \
        x->at = at;                                                                                \
        x->room = room;                                                                            \
    }                                                                                              \
    static T T##_copy(const T *from) {                                                             \
        T x = {0, 0, NULL};                                                                        \
        T##_reserve(&x, from->size);                                                               \
        for (; x.size < from->size; x.size++)                                                      \
            x.at[x.size] = E##_copy(&from->at[x.size]);                                            \
        return x;                                                                                  \
    }                                                                                              \
    ORCA_ASSIGN(T)                                                                                 \
    static int T##_compare(const T *x, const T *y) {                                               \
        int order = orca_integer_compare(&x->size, &y->size);                                      \
        for (int64_t i = 0; i < x->size && order == 0; i++)                                        \
            order = E##_compare(&x->at[i], &y->at[i]);                                             \
        return order;                                                                              \
    }                                                                                              \
    /* Number of elements before this one. */                                                      \
    static int64_t T##_find(const T *x, const E *element) {                                        \
        int64_t from = 0, to = x->size;                                                            \
        while (from < to) {                                                                        \
            int64_t middle = from + (to - from) / 2;                                               \
            if (E##_compare(&x->at[middle], element) < 0)                                          \
                from = middle + 1;                                                                 \
            else                                                                                   \
                to = middle;                                                                       \
        }                                                                                          \
        return from;                                                                               \
    }                                                                                              \
    static bool T##_has(const T *x, const E *element) {                                            \
        int64_t place = T##_find(x, element);                                                      \
        return place < x->size && E##_compare(&x->at[place], element) == 0;                        \
    }                                                                                              \
    static void T##_insert(T *x, const E *element) {                                               \
        int64_t place = T##_find(x, element);                                                      \
        if (!IS_BAG && place < x->size && E##_compare(&x->at[place], element) == 0)                \
            return;                                                                                \
        E copy = E##_copy(element);                                                                \
        T##_reserve(x, x->size + 1);                                                               \
        memmove(&x->at[place + 1], &x->at[place], (size_t)(x->size - place) * sizeof copy);        \
        x->at[place] = copy;                                                                       \
        x->size++;                                                                                 \
    }                                                                                              \
    static inline T T##_of(int64_t size, E *elements) {                                            \
        T x = {0, 0, NULL};                                                                        \
        for (int64_t i = 0; i < size; i++) {                                                       \
            T##_insert(&x, &elements[i]);                                                          \
            E##_free(&elements[i]);                                                                \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    static void T##_delete(T *x, const E *element) {                                               \
        int64_t place = T##_find(x, element);                                                      \
        if (place == x->size || E##_compare(&x->at[place], element) != 0)                          \
            return;                                                                                \
        E##_free(&x->at[place]);                                                                   \
        x->size--;                                                                                 \
        memmove(&x->at[place], &x->at[place + 1], (size_t)(x->size - place) * sizeof(E));          \
    }                                                                                              \
    /* The largest element, taken out: any would do, but all copies have to take the same. */      \
    static E T##_from(T *x, const char *where) {                                                   \
        if (x->size == 0)                                                                          \
            orca_fail(where, "`from` finds no element");                                           \
        return x->at[--x->size];                                                                   \
    }                                                                                              \
    /* Elements of x, of y, and of both: those of which keep says so. */                           \
    static T T##_merge(const T *x, const T *y, bool left, bool right, bool both) {                 \
        T merged = {0, 0, NULL};                                                                   \
        T##_reserve(&merged, x->size + y->size);                                                   \
        for (int64_t i = 0, j = 0; i < x->size || j < y->size;) {                                  \
            int order = i == x->size ? 1 : j == y->size ? -1 : E##_compare(&x->at[i], &y->at[j]);  \
            if (order < 0 ? left : order > 0 ? right : both)                                       \
                merged.at[merged.size++] = E##_copy(order > 0 ? &y->at[j] : &x->at[i]);            \
            if (IS_BAG && order == 0 && left && right)                                             \
                merged.at[merged.size++] = E##_copy(&y->at[j]);                                    \
            i += order <= 0;                                                                       \
            j += order >= 0;                                                                       \
        }                                                                                          \
        return merged;                                                                             \
    }                                                                                              \
    static void T##_put(orca_writer *writer, const T *x) {                                         \
        orca_put(writer, &x->size, sizeof x->size);                                                \
        if (E##_flat)                                                                              \
            orca_put_flat(writer, x->at, (size_t)x->size * sizeof *x->at);                         \
        else                                                                                       \
            for (int64_t i = 0; i < x->size; i++)                                                  \
                E##_put(writer, &x->at[i]);                                                        \
    }                                                                                              \
    static bool T##_get(orca_reader *reader, T *x) {                                               \
        memset(x, 0, sizeof *x);                                                                   \
        int64_t size;                                                                              \
        size_t least = E##_flat ? sizeof *x->at : 1;                                               \
        if (!orca_get(reader, &size, sizeof size) || size < 0 ||                                   \
            (uint64_t)size > reader->left / least)                                                 \
            return false;                                                                          \
        T##_reserve(x, size);                                                                      \
        if (E##_flat) {                                                                            \
            x->size = size;                                                                        \
            return size == 0 || orca_get(reader, x->at, (size_t)size * sizeof *x->at);             \
        }                                                                                          \
        bool good = true;                                                                          \
        while (x->size < size && good)                                                             \
            good = E##_get(reader, &x->at[x->size++]);                                             \
        return good;                                                                               \
    }

// Graphs: fields F of the whole, and nodes with fields N, in slots. The name of a node is its slot
// and how many nodes that slot had before; 0 is nil.
#define ORCA_GRAPH(T, F, N)                                                                        \
    typedef struct {                                                                               \
        uint32_t generation, next_free;                                                            \
        uint64_t is_live;                                                                          \
        N fields;                                                                                  \
    } T##_slot;                                                                                    \
    typedef struct {                                                                               \
        F fields;                                                                                  \
        int64_t used, room, first_free;                                                            \
        T##_slot *slots;                                                                           \
    } T;                                                                                           \
    enum { T##_flat = 0 };                                                                         \
    static void T##_free(T *x) {                                                                   \
        F##_free(&x->fields);                                                                      \
        for (int64_t i = 0; i < x->used; i++)                                                      \
            N##_free(&x->slots[i].fields);                                                         \
        free(x->slots);                                                                            \
    }                                                                                              \
    static T T##_copy(const T *from) {                                                             \
        T x = *from;                                                                               \
        x.fields = F##_copy(&from->fields);                                                        \
        x.room = from->used;                                                                       \
        x.slots = orca_memory((size_t)x.room * sizeof *x.slots);                                   \
        for (int64_t i = 0; i < x.used; i++) {                                                     \
            x.slots[i] = from->slots[i];                                                           \
            x.slots[i].fields = N##_copy(&from->slots[i].fields);                                  \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    ORCA_ASSIGN(T)                                                                                 \
    static int T##_compare(const T *x, const T *y) {                                               \
        return (x > y) - (x < y);                                                                  \
    }                                                                                              \
    static N *T##_node(const T *x, orca_node name, const char *where) {                            \
        if (name == 0)                                                                             \
            orca_fail(where, "`nil` is no node");                                                  \
        uint64_t slot = (name >> 32) - 1;                                                          \
        if (slot >= (uint64_t)x->used || !x->slots[slot].is_live ||                                \
            x->slots[slot].generation != (uint32_t)name)                                           \
            orca_fail(where, "this graph has no node of that name (any more)");                    \
        return &x->slots[slot].fields;                                                             \
    }                                                                                              \
    static orca_node T##_add(T *x, N fields, const char *where) {                                  \
        int64_t slot = x->first_free - 1;                                                          \
        if (slot < 0) {                                                                            \
            if (x->used == x->room) {                                                              \
                x->room = x->room > 0 ? 2 * x->room : 8;                                           \
                T##_slot *slots = orca_memory((size_t)x->room * sizeof *slots);                    \
                if (x->used > 0)                                                                   \
                    memcpy(slots, x->slots, (size_t)x->used * sizeof *slots);                      \
                free(x->slots);                                                                    \
                x->slots = slots;                                                                  \
            }                                                                                      \
            slot = x->used++;                                                                      \
            if (slot >= UINT32_MAX - 1)                                                            \
                orca_fail(where, "a graph has too many nodes");                                    \
        } else {                                                                                   \
            x->first_free = x->slots[slot].next_free;                                              \
        }                                                                                          \
        x->slots[slot].is_live = 1;                                                                \
        x->slots[slot].fields = fields;                                                            \
        return (uint64_t)(slot + 1) << 32 | x->slots[slot].generation;                             \
    }                                                                                              \
    static void T##_remove(T *x, orca_node name, const char *where) {                              \
        N *fields = T##_node(x, name, where);                                                      \
        N##_free(fields);                                                                          \
        memset(fields, 0, sizeof *fields);                                                         \
        uint64_t slot = (name >> 32) - 1;                                                          \
        x->slots[slot].generation++;                                                               \
        x->slots[slot].is_live = 0;                                                                \
        x->slots[slot].next_free = (uint32_t)x->first_free;                                        \
        x->first_free = (int64_t)slot + 1;                                                         \
    }                                                                                              \
    static void T##_put(orca_writer *writer, const T *x) {                                         \
        F##_put(writer, &x->fields);                                                               \
        orca_put(writer, &x->used, sizeof x->used);                                                \
        orca_put(writer, &x->first_free, sizeof x->first_free);                                    \
        for (int64_t i = 0; i < x->used; i++) {                                                    \
            orca_put(writer, &x->slots[i], offsetof(T##_slot, fields));                            \
            N##_put(writer, &x->slots[i].fields);                                                  \
        }                                                                                          \
    }                                                                                              \
    static bool T##_get(orca_reader *reader, T *x) {                                               \
        memset(x, 0, sizeof *x);                                                                   \
        int64_t used, first_free;                                                                  \
        if (!F##_get(reader, &x->fields) || !orca_get(reader, &used, sizeof used) ||               \
            !orca_get(reader, &first_free, sizeof first_free) || used < 0 || first_free < 0 ||     \
            (uint64_t)used > reader->left / 8 || first_free > used)                                \
            return false;                                                                          \
        x->room = used;                                                                            \
        x->first_free = first_free;                                                                \
        x->slots = orca_memory((size_t)used * sizeof *x->slots);                                   \
        bool good = true;                                                                          \
        while (x->used < used && good) {                                                           \
            T##_slot *slot = &x->slots[x->used++];                                                 \
            good = orca_get(reader, slot, offsetof(T##_slot, fields)) &&                           \
                   slot->next_free <= used && N##_get(reader, &slot->fields);                      \
        }                                                                                          \
        return good;                                                                               \
    }

// A line for the standard output, written at once, so that lines of processes are whole.
typedef struct {
    size_t used;
    char bytes[4096];
} orca_line;

static void orca_write(orca_line *line, const char *bytes, size_t count) {
    if (count > sizeof line->bytes - line->used) {
        fwrite(line->bytes, 1, line->used, stdout);
        line->used = 0;
    }
    if (count > sizeof line->bytes) {
        fwrite(bytes, 1, count, stdout);
        return;
    }
    memcpy(line->bytes + line->used, bytes, count);
    line->used += count;
}

static void orca_write_name(orca_line *line, const char *name) {
    orca_write(line, name, strlen(name));
}

static void orca_write_integer(orca_line *line, int64_t value) {
    char digits[32];
    orca_write(line, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value));
}

// The shortest digits from which the same real is read again.
static void orca_write_real(orca_line *line, double value) {
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    if (isfinite(value) && strpbrk(digits, ".e") == NULL)
        strcat(digits, ".0");
    orca_write_name(line, digits);
}

static void orca_write_boolean(orca_line *line, bool value) {
    orca_write_name(line, value ? "true" : "false");
}

static void orca_write_char(orca_line *line, uint32_t value) {
    char bytes[4];
    size_t count = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count; i-- > 1; value >>= 6)
        bytes[i] = (char)(0x80 | (value & 0x3f));
    bytes[0] = (char)(marks[count] | value);
    orca_write(line, bytes, count);
}

static void orca_write_text(orca_line *line, const orca_text *value) {
    for (int64_t i = 0; i < value->count[0]; i++)
        orca_write_char(line, value->at[i]);
}

static void orca_write_end(orca_line *line) {
    fwrite(line->bytes, 1, line->used, stdout);
    fflush(stdout);
}

// Objects. One that its process has not shared is its state alone; others are Weft's.
static weft_objects *orca_objects;
static uint32_t orca_rank, orca_ranks;

static void orca_check(weft_status status, const char *at) {
    if (status != WEFT_OK)
        orca_fail(at, "%s", weft_error_text());
}

_Noreturn static void orca_alone(const char *at, const char *operation) {
    orca_fail(at, "`%s` waits for ever: no other process has this object", operation);
}

// All that was written, in one piece, which is the caller's to free.
static void *orca_whole(orca_writer *writer, size_t *length) {
    *length = writer->length;
    char *whole = orca_memory(writer->length), *to = whole;
    for (size_t i = 0; i < writer->count; i++) {
        memcpy(to, writer->pieces[i].base, writer->pieces[i].length);
        to += writer->pieces[i].length;
    }
    orca_end(writer);
    return whole;
}

// An object type T with the state T_state, of which Weft knows by the name KIND. An object that is
// shared is put by its number, a state with the objects in it whole.
#define ORCA_OBJECT(T, KIND)                                                                       \
    typedef struct {                                                                               \
        T##_state state;                                                                           \
        weft_object *shared;                                                                       \
        const char *name;                                                                          \
        uint32_t home;                                                                             \
    } T;                                                                                           \
    enum { T##_flat = 0 };                                                                         \
    static void T##_begin(T *object, const char *name, uint32_t home);                             \
    static void T##_free(T *x) {                                                                   \
        if (x->shared != NULL)                                                                     \
            weft_object_destroy(x->shared);                                                        \
        else                                                                                       \
            T##_state_free(&x->state);                                                             \
    }                                                                                              \
    static T T##_copy(const T *x) {                                                                \
        orca_fail(x->name, "objects are not copied");                                              \
    }                                                                                              \
    static inline void T##_assign(T *to, const T *from) {                                          \
        *to = T##_copy(from);                                                                      \
    }                                                                                              \
    ORCA_MOVE(T)                                                                                   \
    static int T##_compare(const T *x, const T *y) {                                               \
        return (x > y) - (x < y);                                                                  \
    }                                                                                              \
    /* Hands the object to Weft: from now on others may have it. */                                \
    static void T##_share(T *x) {                                                                  \
        if (x->shared != NULL)                                                                     \
            return;                                                                                \
        orca_writer writer = {.deep = true};                                                       \
        T##_state_put(&writer, &x->state);                                                         \
        size_t length;                                                                             \
        void *state = orca_whole(&writer, &length);                                                \
        orca_check(weft_object_create_unnamed(orca_objects, x->name, KIND, state, length, x->home, \
                                              &x->shared),                                         \
                   x->name);                                                                       \
        free(state);                                                                               \
        T##_state_free(&x->state);                                                                 \
        memset(&x->state, 0, sizeof x->state);                                                     \
    }                                                                                              \
    static void T##_put(orca_writer *writer, const T *x) {                                         \
        if (writer->deep) {                                                                        \
            T##_state_put(writer, &x->state);                                                      \
            return;                                                                                \
        }                                                                                          \
        T##_share((T *)x);                                                                         \
        uint64_t number;                                                                           \
        orca_check(weft_object_number(x->shared, &number), x->name);                               \
        orca_put(writer, &number, sizeof number);                                                  \
    }                                                                                              \
    static bool T##_get(orca_reader *reader, T *x) {                                               \
        memset(x, 0, sizeof *x);                                                                   \
        x->name = KIND;                                                                            \
        if (reader->deep)                                                                          \
            return T##_state_get(reader, &x->state);                                               \
        uint64_t number;                                                                           \
        return orca_get(reader, &number, sizeof number) &&                                         \
               weft_object_get(orca_objects, number, KIND, &x->shared) == WEFT_OK;                 \
    }                                                                                              \
    static void *T##_restore(const void *state, size_t length) {                                   \
        orca_reader reader = {state, length, true};                                                \
        T##_state *instance = orca_memory(sizeof *instance);                                       \
        if (T##_state_get(&reader, instance) && reader.left == 0)                                  \
            return instance;                                                                       \
        T##_state_free(instance);                                                                  \
        free(instance);                                                                            \
        return NULL;                                                                               \
    }                                                                                              \
    static void T##_capture(const void *instance, weft_result *state) {                            \
        orca_writer writer = {.deep = true};                                                       \
        T##_state_put(&writer, instance);                                                          \
        orca_finish(&writer, state);                                                               \
    }                                                                                              \
    static void T##_destroy(void *instance) {                                                      \
        T##_state_free(instance);                                                                  \
        free(instance);                                                                            \
    }

// Processor for a process: those that are not there are counted on from the first again.
static uint32_t orca_processor(int64_t number, const char *at) {
    if (number < 0)
        orca_fail(at, "there is no processor %lld: they have numbers from 0 on", (long long)number);
    return (uint32_t)(number % orca_ranks);
}

// Starts a process with arguments that were written.
static void orca_fork(const char *process, uint32_t rank, orca_writer *writer, const char *at) {
    size_t length;
    void *arguments = orca_whole(writer, &length);
    orca_check(weft_object_fork(orca_objects, process, rank, arguments, length), at);
    free(arguments);
}

// Has an operation executed wherever the object is, and reads its result.
static orca_reader orca_invoke(weft_object *object, uint16_t operation, orca_writer *writer,
                               weft_answer **answer, const char *at) {
    orca_check(weft_object_invoke(object, operation, writer->pieces, writer->count, answer), at);
    orca_end(writer);
    const void *bytes;
    size_t length;
    orca_check(weft_answer_bytes(*answer, &bytes, &length), at);
    orca_reader reader = {bytes, length, false};
    return reader;
}

// A program: joins the job, and returns when its processes have ended.
static int orca_main(const weft_object_type *types, size_t type_count,
                     const weft_process_type *processes, size_t process_count, const char *main) {
    weft_job *job;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    orca_check(weft_join(&job), "start");
    orca_check(weft_rank(job, &orca_rank), "start");
    orca_check(weft_size(job, &orca_ranks), "start");
    orca_check(weft_objects_create(job, types, type_count, processes, process_count, &orca_objects),
               "start");
    orca_check(weft_objects_run(orca_objects, main, NULL, 0), "the program");
    orca_check(weft_objects_destroy(orca_objects), "end");
    orca_check(weft_leave(job), "end");
    return 0;
}

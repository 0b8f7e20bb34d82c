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

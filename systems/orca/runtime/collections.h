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

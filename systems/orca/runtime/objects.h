// Objects. One that its process has not shared is its state alone; others are Weft's.
// All ranks learn that all processes wait for one another: rank 0 has the list of them, and a second
// to say it and so to end the job, before others would say the same.
static void orca_leave_it_to_first(weft_status status) {
#ifndef ORCA_SIMULATED
    if (status == WEFT_WAITS_FOR_ITSELF && orca_rank != 0)
        sleep(1);
#else
    (void)status;
#endif
}

static void orca_check(weft_status status, const char *at) {
    if (status == WEFT_OK)
        return;
    orca_leave_it_to_first(status);
    orca_fail(at, "%s", weft_error_text());
}

_Noreturn static void orca_alone(const char *at, const char *operation) {
    orca_fail(at, "`%s` waits for ever: no other process has this object", operation);
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

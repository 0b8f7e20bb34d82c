// Rank 0 puts a hundred jobs into a queue, all ranks take them out and add up what they get.
//
//     weft run -n 4 -- ./jobs

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft-objects.h>

enum { JOBS = 100 };

// Jobs that wait, and their operations by number.
struct jobs {
    uint64_t waiting[JOBS];
    uint64_t first, count, is_closed;
};

enum { PUT, TAKE, CLOSE };

// A sum, and the number of ranks that have added to it.
struct total {
    uint64_t sum, ranks;
};

enum { ADD, SUM_OF };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "jobs: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static weft_outcome
put(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct jobs *jobs = instance;

    (void)result;
    if (length != sizeof(uint64_t) || jobs->count == JOBS)
        return WEFT_OUTCOME_MALFORMED;
    memcpy(&jobs->waiting[jobs->count++], arguments, length);
    return WEFT_OUTCOME_DONE;
}

// No job, once none will come any more.
static weft_outcome
take_none(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    const struct jobs *jobs = instance;

    (void)arguments, (void)length, (void)result;
    if (!jobs->is_closed || jobs->first < jobs->count)
        return WEFT_OUTCOME_BLOCKED;
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
take_first(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct jobs *jobs = instance;
    uint64_t *job;

    (void)arguments, (void)length;
    if (jobs->first == jobs->count)
        return WEFT_OUTCOME_BLOCKED;
    job = weft_result_extend(result, sizeof *job);
    memcpy(job, &jobs->waiting[jobs->first++], sizeof *job);
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
close_queue(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct jobs *jobs = instance;

    (void)arguments, (void)length, (void)result;
    jobs->is_closed = 1;
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
add(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct total *total = instance;

    (void)result;
    if (length != sizeof(uint64_t))
        return WEFT_OUTCOME_MALFORMED;
    total->sum += *(const uint64_t *)arguments;
    total->ranks++;
    return WEFT_OUTCOME_DONE;
}

// The sum, once so many ranks have added to it.
static weft_outcome
sum_of(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    const struct total *total = instance;

    if (length != sizeof(uint64_t))
        return WEFT_OUTCOME_MALFORMED;
    if (total->ranks < *(const uint64_t *)arguments)
        return WEFT_OUTCOME_BLOCKED;
    memcpy(weft_result_extend(result, sizeof total->sum), &total->sum, sizeof total->sum);
    return WEFT_OUTCOME_DONE;
}

static void *
copy(const void *state, size_t length, size_t size)
{
    void *instance = length == size ? malloc(size) : NULL;

    return instance == NULL ? NULL : memcpy(instance, state, size);
}

static void *
restore_jobs(const void *state, size_t length)
{
    return copy(state, length, sizeof(struct jobs));
}

static void
capture_jobs(const void *instance, weft_result *state)
{
    memcpy(weft_result_extend(state, sizeof(struct jobs)), instance, sizeof(struct jobs));
}

static void *
restore_total(const void *state, size_t length)
{
    return copy(state, length, sizeof(struct total));
}

static void
capture_total(const void *instance, weft_result *state)
{
    memcpy(weft_result_extend(state, sizeof(struct total)), instance, sizeof(struct total));
}

static const weft_object_operation of_jobs[] = {
    [PUT] = { "put", NULL, put },
    [TAKE] = { "take", take_none, take_first },
    [CLOSE] = { "close", NULL, close_queue },
};
static const weft_object_operation of_total[] = {
    [ADD] = { "add", NULL, add },
    [SUM_OF] = { "sum_of", sum_of, NULL },
};
static const weft_object_type types[] = {
    { "Jobs", of_jobs, 3, restore_jobs, capture_jobs, free },
    { "Total", of_total, 2, restore_total, capture_total, free },
};

// Executes an operation with a number, if there is one, and tells if its result is a number.
static bool
invoke(const weft_object *object, uint16_t operation, const uint64_t *number, uint64_t *result)
{
    weft_iov piece = { number, sizeof *number };
    weft_answer *answer;
    const void *bytes;
    size_t length;

    check(weft_object_invoke(object, operation, &piece, number == NULL ? 0 : 1, &answer));
    check(weft_answer_bytes(answer, &bytes, &length));
    memcpy(result, bytes, length);
    check(weft_answer_free(answer));
    return length > 0;
}

int
main(void)
{
    weft_job *job;
    weft_objects *objects;
    weft_object *jobs, *total;
    struct jobs no_jobs = { { 0 }, 0, 0, 0 };
    struct total nothing = { 0, 0 };
    uint32_t rank, size;
    uint64_t ranks, number, sum = 0, all;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_objects_create(job, types, 2, NULL, 0, &objects));
    if (rank == 0) {
        check(weft_object_create(objects, "jobs", "Jobs", &no_jobs, sizeof no_jobs, 0, &jobs));
        check(weft_object_create(objects, "total", "Total", &nothing, sizeof nothing,
                                 WEFT_REPLICATED, &total));
        for (number = 1; number <= JOBS; number++)
            invoke(jobs, PUT, &number, &all);
        invoke(jobs, CLOSE, NULL, &all);
    } else {
        check(weft_object_find(objects, "jobs", "Jobs", &jobs));
        check(weft_object_find(objects, "total", "Total", &total));
    }
    while (invoke(jobs, TAKE, NULL, &number))
        sum += number;
    invoke(total, ADD, &sum, &all);
    ranks = size;
    invoke(total, SUM_OF, &ranks, &all);
    if (rank == 0)
        printf("%d jobs were taken, by %u ranks, and come to %llu\n", JOBS, size,
               (unsigned long long)all);
    check(weft_object_destroy(total));
    check(weft_object_destroy(jobs));
    check(weft_barrier(job));
    check(weft_objects_destroy(objects));
    check(weft_leave(job));
    return 0;
}

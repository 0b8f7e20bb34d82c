// Processes that share objects (thesis, figs. 7.1 and 7.2), and processes that fail.

#include "check.h"
#include <weft-objects.h>

// Operations of an integer.
enum { INC, AWAIT };

static weft_outcome
inc(void *instance, const void *arguments, size_t length, weft_result *result)
{
    int64_t *value = instance;

    (void)arguments, (void)length, (void)result;
    ++*value;
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
await(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    (void)result;
    if (length != sizeof(int64_t))
        return WEFT_OUTCOME_MALFORMED;
    return *(const int64_t *)instance >= *(const int64_t *)arguments ? WEFT_OUTCOME_DONE
                                                                     : WEFT_OUTCOME_BLOCKED;
}

static void *
restore(const void *state, size_t length)
{
    int64_t *value = length == sizeof *value ? malloc(sizeof *value) : NULL;

    if (value != NULL)
        memcpy(value, state, sizeof *value);
    return value;
}

static void
capture(const void *instance, weft_result *state)
{
    memcpy(weft_result_extend(state, sizeof(int64_t)), instance, sizeof(int64_t));
}

static const weft_object_operation operations[] = { { "inc", NULL, inc }, { "await", await, NULL } };
static const weft_object_type integer = { "Int", operations, 2, restore, capture, free };

static void
wait_for(const weft_object *counter, int64_t value)
{
    OK(weft_object_invoke(counter, AWAIT, &(weft_iov){ &value, sizeof value }, 1, NULL));
}

static void
worker(const weft_objects *objects, const void *arguments, size_t length, void *user)
{
    weft_object *counter;

    HOLDS(length == sizeof(uint64_t) && strcmp(user, "for workers") == 0);
    OK(weft_object_get(objects, *(const uint64_t *)arguments, "Int", &counter));
    OK(weft_object_invoke(counter, INC, NULL, 0, NULL));
    OK(weft_object_destroy(counter));
}

// Forks a worker on each rank, and waits until all have counted.
static void
run_workers(const weft_objects *objects, const void *arguments, size_t length, void *user)
{
    uint32_t size;
    weft_object *counter;
    int64_t zero = 0;
    uint64_t number;

    HOLDS(user == NULL && length == sizeof size);
    memcpy(&size, arguments, sizeof size);
    OK(weft_object_create_unnamed(objects, "counter", "Int", &zero, sizeof zero, WEFT_REPLICATED,
                                  &counter));
    OK(weft_object_number(counter, &number));
    for (uint32_t rank = 0; rank < size; rank++)
        OK(weft_object_fork(objects, "Worker", rank, &number, sizeof number));
    wait_for(counter, size);
    FAILS(weft_object_fork(objects, "Walker", 0, NULL, 0), WEFT_INVALID, "'Walker'");
    FAILS(weft_object_fork(objects, "Worker", size, NULL, 0), WEFT_NO_SUCH_RANK, "");
    FAILS(weft_objects_destroy((weft_objects *)objects), WEFT_INVALID, "not given back");
    OK(weft_object_destroy(counter));
}

static void
fail(const weft_objects *objects, const void *arguments, size_t length, void *user)
{
    (void)arguments, (void)length, (void)user;
    OK(weft_process_fail(objects, "it has lost its way"));
    OK(weft_process_fail(objects, "and more"));
}

// Waits for what never comes, but that another process fails.
static void
wait_in_vain(const weft_objects *objects, const void *arguments, size_t length, void *user)
{
    weft_object *counter;
    weft_status status;
    int64_t zero = 0, ten = 10;
    uint32_t last;

    HOLDS(user == NULL && length == sizeof last);
    memcpy(&last, arguments, sizeof last);
    OK(weft_object_create_unnamed(objects, "vain", "Int", &zero, sizeof zero, 0, &counter));
    // It may have failed already when this returns.
    status = weft_object_fork(objects, "Fail", last, NULL, 0);
    HOLDS(status == WEFT_OK || status == WEFT_ABANDONED);
    FAILS(weft_object_invoke(counter, AWAIT, &(weft_iov){ &ten, sizeof ten }, 1, NULL),
          WEFT_ABANDONED, "it has lost its way");
    OK(weft_object_destroy(counter));
}

// Waits for what nobody does.
static void
wait_for_nobody(const weft_objects *objects, const void *arguments, size_t length, void *user)
{
    weft_object *counter;
    int64_t zero = 0, ten = 10;

    (void)arguments, (void)length, (void)user;
    OK(weft_object_create_unnamed(objects, "nobody", "Int", &zero, sizeof zero, 0, &counter));
    FAILS(weft_object_invoke(counter, AWAIT, &(weft_iov){ &ten, sizeof ten }, 1, NULL),
          WEFT_WAITS_FOR_ITSELF, "all processes wait for guards");
    OK(weft_object_destroy(counter));
}

int
main(void)
{
    weft_process_type processes[5] = {
        { "Worker", worker, "for workers" },
        { "RunWorkers", run_workers, NULL },
        { "Fail", fail, NULL },
        { "WaitInVain", wait_in_vain, NULL },
        { "WaitForNobody", wait_for_nobody, NULL },
    };
    weft_job *job;
    weft_objects *objects;
    uint32_t rank, size, last;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    processes[3].name = "Fail";
    FAILS(weft_objects_create(job, &integer, 1, processes, 5, &objects), WEFT_INVALID,
          "two processes 'Fail'");
    processes[3].name = "WaitInVain";
    processes[0].code = NULL;
    FAILS(weft_objects_create(job, &integer, 1, processes, 5, &objects), WEFT_INVALID,
          "code of the process 'Worker'");
    processes[0].code = worker;
    OK(weft_objects_create(job, &integer, 1, processes, 5, &objects));
    OK(weft_objects_run(objects, "RunWorkers", &size, sizeof size));
    last = size - 1;
    FAILS(weft_objects_run(objects, "WaitInVain", &last, sizeof last), WEFT_ABANDONED,
          "it has lost its way");
    FAILS(weft_objects_run(objects, "WaitForNobody", NULL, 0), WEFT_WAITS_FOR_ITSELF,
          "all processes wait for guards");
    OK(weft_objects_run(objects, "RunWorkers", &size, sizeof size));
    OK(weft_barrier(job));
    OK(weft_objects_destroy(objects));
    OK(weft_leave(job));
    return 0;
}

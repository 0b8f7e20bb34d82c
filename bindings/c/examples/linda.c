// A bag of tasks: rank 0 puts a hundred of them into a space of tuples, all ranks take them and put
// results, and rank 0 takes these.
//
//     weft run -n 4 -- ./linda

#include <stdio.h>
#include <stdlib.h>
#include <weft-objects.h>

// Numbers of which the one with the longest chain is looked for, and those of a task.
enum { NUMBERS = 100000, TASK = 1000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "linda: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static const weft_field task = { .kind = WEFT_FIELD_TEXT, .bytes = "task", .length = 4 };
static const weft_field chain = { .kind = WEFT_FIELD_TEXT, .bytes = "chain", .length = 5 };
static const weft_field any = { .kind = WEFT_FIELD_U64, .is_formal = true };

static weft_field
number(uint64_t value)
{
    return (weft_field){ .kind = WEFT_FIELD_U64, .u64 = value };
}

static void
put_task(weft_space *space, uint64_t first)
{
    weft_field tuple[] = { task, number(first) };

    check(weft_space_out(space, tuple, 2));
}

// The second field of a tuple, which is freed.
static uint64_t
second_of(weft_tuple *tuple)
{
    const weft_field *fields;
    uint64_t value;
    size_t count;

    check(weft_tuple_fields(tuple, &fields, &count));
    value = fields[1].u64;
    check(weft_tuple_free(tuple));
    return value;
}

static uint64_t
steps(uint64_t value)
{
    uint64_t count;

    for (count = 0; value != 1; count++)
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    return count;
}

// Puts the longest chain of a task.
static void
work_on(weft_space *space, uint64_t first)
{
    uint64_t longest = 0, with = 0;

    for (uint64_t value = first; value < first + TASK; value++)
        if (steps(value) >= longest) {
            longest = steps(value);
            with = value;
        }
    weft_field tuple[] = { chain, number(longest), number(with) };
    check(weft_space_out(space, tuple, 3));
}

// Takes tasks and puts what comes of them, until the task is 0.
static void
work(weft_space *space)
{
    weft_field template[] = { task, any };
    weft_tuple *tuple;
    uint64_t first;

    for (;;) {
        check(weft_space_in(space, template, 2, &tuple));
        first = second_of(tuple);
        if (first == 0)
            return;
        work_on(space, first);
    }
}

// Takes all results, and says what came out.
static void
collect(weft_space *space)
{
    weft_field template[] = { chain, any, any };
    uint64_t longest = 0, with = 0;

    for (uint64_t first = 1; first < NUMBERS; first += TASK) {
        const weft_field *fields;
        weft_tuple *tuple;
        size_t count;

        check(weft_space_in(space, template, 3, &tuple));
        check(weft_tuple_fields(tuple, &fields, &count));
        if (fields[1].u64 > longest) {
            longest = fields[1].u64;
            with = fields[2].u64;
        }
        check(weft_tuple_free(tuple));
    }
    printf("below %d the longest chain begins with %llu and has %llu steps\n", NUMBERS,
           (unsigned long long)with, (unsigned long long)longest);
}

static void
be_master(weft_space *space, uint32_t ranks)
{
    weft_field template[] = { task, any };
    weft_tuple *tuple;

    for (uint64_t first = 1; first < NUMBERS; first += TASK)
        put_task(space, first);
    // It works, too, as long as there is something to do.
    for (;;) {
        check(weft_space_inp(space, template, 2, &tuple));
        if (tuple == NULL)
            break;
        work_on(space, second_of(tuple));
    }
    collect(space);
    for (uint32_t rank = 1; rank < ranks; rank++)
        put_task(space, 0);
}

int
main(void)
{
    weft_job *job;
    weft_objects *objects;
    weft_space *space;
    uint32_t rank, size;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_objects_create(job, NULL, 0, NULL, 0, &objects));
    check(weft_space_create(objects, "bag", &space));
    if (rank == 0)
        be_master(space, size);
    else
        work(space);
    check(weft_barrier(job)); // Each rank's part of the space stays until all are done.
    check(weft_space_destroy(space));
    check(weft_objects_destroy(objects));
    check(weft_leave(job));
    return 0;
}

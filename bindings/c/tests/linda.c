// Linda: tuples of all kinds, templates with formals anywhere, active tuples, and what goes wrong.

#include "check.h"
#include <weft-objects.h>

#define TEXT(text) { .kind = WEFT_FIELD_TEXT, .bytes = (text), .length = strlen(text) }
#define I64(value) { .kind = WEFT_FIELD_I64, .i64 = (value) }
#define U64(value) { .kind = WEFT_FIELD_U64, .u64 = (value) }
#define F64(value) { .kind = WEFT_FIELD_F64, .f64 = (value) }
#define ANY(of) { .kind = (of), .is_formal = true }

// Fields of a tuple, which has to have that many.
static const weft_field *
fields_of(const weft_tuple *tuple, size_t count)
{
    const weft_field *fields;
    size_t found;

    OK(weft_tuple_fields(tuple, &fields, &found));
    HOLDS(found == count);
    return fields;
}

static bool
is_text(const weft_field *field, const char *text)
{
    return field->kind == WEFT_FIELD_TEXT && field->length == strlen(text) &&
           memcmp(field->bytes, text, field->length) == 0;
}

// Each rank puts a tuple, and rank 0 takes them all: by the first field, or by formals alone.
static void
everybody_puts(const weft_space *space, uint32_t rank, uint32_t size, bool by_name)
{
    weft_field item[] = { TEXT("item"), I64(-(int64_t)rank), F64(rank * 2.5) };
    weft_field named[] = { TEXT("item"), ANY(WEFT_FIELD_I64), ANY(WEFT_FIELD_F64) };
    weft_field any[] = { ANY(WEFT_FIELD_TEXT), ANY(WEFT_FIELD_I64), ANY(WEFT_FIELD_F64) };
    int64_t sum = 0;
    double all = 0;

    OK(weft_space_out(space, item, 3));
    if (rank != 0)
        return;
    for (uint32_t i = 0; i < size; i++) {
        weft_tuple *tuple;
        const weft_field *fields;

        OK(weft_space_in(space, by_name ? named : any, 3, &tuple));
        fields = fields_of(tuple, 3);
        HOLDS(is_text(&fields[0], "item") && !fields[1].is_formal);
        sum += fields[1].i64;
        all += fields[2].f64;
        OK(weft_tuple_free(tuple));
    }
    HOLDS(sum == -(int64_t)(size * (size - 1) / 2) && all == sum * -2.5);
}

// A tuple of all kinds, which is found as it was put, and once.
static void
all_kinds(const weft_space *space, uint32_t rank)
{
    uint64_t number = (UINT64_MAX << 8) | rank;
    weft_field all[] = {
        U64(number), I64(INT64_MIN), F64(-0.0), { .kind = WEFT_FIELD_BOOL, .u64 = 1 },
        { .kind = WEFT_FIELD_CHAR, .u64 = 0x20ac }, TEXT(""),
        { .kind = WEFT_FIELD_BYTES, .bytes = "\0\xff\1", .length = 3 },
    };
    weft_field like[7];
    const weft_field *fields;
    weft_tuple *tuple;

    memcpy(like, all, sizeof all);
    for (int i = 1; i < 7; i++)
        like[i].is_formal = i % 2 == 1;
    OK(weft_space_out(space, all, 7));
    OK(weft_space_rdp(space, like, 7, &tuple));
    HOLDS(tuple != NULL);
    fields = fields_of(tuple, 7);
    for (uint32_t i = 0; i < 7; i++)
        HOLDS(fields[i].kind == all[i].kind && !fields[i].is_formal);
    HOLDS(fields[0].u64 == number && fields[1].i64 == INT64_MIN && fields[2].f64 == 0);
    HOLDS(fields[3].u64 == 1 && fields[4].u64 == 0x20ac && fields[5].length == 0);
    HOLDS(fields[6].length == 3 && memcmp(fields[6].bytes, "\0\xff\1", 3) == 0);
    OK(weft_tuple_free(tuple));
    OK(weft_space_inp(space, like, 7, &tuple));
    HOLDS(tuple != NULL);
    OK(weft_tuple_free(tuple));
    OK(weft_space_inp(space, like, 7, &tuple));
    HOLDS(tuple == NULL);
    OK(weft_space_rdp(space, like, 7, &tuple));
    HOLDS(tuple == NULL);
}

static void
square(weft_fields *fields, void *user)
{
    const int64_t *number = user;
    weft_field first[] = { TEXT("square"), I64(*number) }, last = I64(*number * *number);

    OK(weft_fields_add(fields, first, 2));
    OK(weft_fields_add(fields, NULL, 0));
    OK(weft_fields_add(fields, &last, 1));
}

static void
wrong_square(weft_fields *fields, void *user)
{
    weft_field formal = ANY(WEFT_FIELD_I64);

    square(fields, user);
    FAILS(weft_fields_add(fields, &formal, 1), WEFT_INVALID, "no formals");
}

// Tuples that threads compute; who waits for one does not know that.
static void
active(const weft_space *space, uint32_t rank, uint32_t size)
{
    int64_t number = rank, next = (rank + 1) % size;
    weft_field wanted[] = { TEXT("square"), I64(next), ANY(WEFT_FIELD_I64) };
    weft_active *computed, *wrong;
    weft_tuple *tuple;

    OK(weft_space_eval(space, square, &number, &computed));
    OK(weft_space_in(space, wanted, 3, &tuple));
    HOLDS(fields_of(tuple, 3)[2].i64 == next * next);
    OK(weft_tuple_free(tuple));
    OK(weft_active_wait(computed));
    OK(weft_space_eval(space, wrong_square, &number, &wrong));
    FAILS(weft_active_wait(wrong), WEFT_PANICKED, "active tuple");
    FAILS(weft_space_eval(space, NULL, NULL, &wrong), WEFT_INVALID, "code is null");
}

static void
wrong(weft_objects *objects, const weft_space *space)
{
    weft_field many[256] = { { .kind = 0 } }, one = I64(1);
    weft_tuple *tuple;
    weft_space *again;

    for (int i = 0; i < 256; i++)
        many[i] = one;
    FAILS(weft_space_out(space, many, 256), WEFT_TOO_LONG, "256 fields");
    FAILS(weft_space_in(space, many, 256, &tuple), WEFT_TOO_LONG, "256 fields");
    FAILS(weft_space_out(space, NULL, 1), WEFT_INVALID, "fields is null");
    FAILS(weft_space_out(NULL, &one, 1), WEFT_INVALID, "space is null");
    FAILS(weft_space_inp(space, &one, 1, NULL), WEFT_INVALID, "result is null");
    one.is_formal = true;
    FAILS(weft_space_out(space, &one, 1), WEFT_INVALID, "no formals");
    one.kind = 9;
    FAILS(weft_space_rd(space, &one, 1, &tuple), WEFT_INVALID, "no kind of fields 9");
    one.is_formal = false;
    FAILS(weft_space_out(space, &one, 1), WEFT_INVALID, "no kind of fields 9");
    one = (weft_field){ .kind = WEFT_FIELD_CHAR, .u64 = 0xd800 };
    FAILS(weft_space_out(space, &one, 1), WEFT_INVALID, "55296 is no character");
    one = (weft_field)TEXT("\xff");
    FAILS(weft_space_out(space, &one, 1), WEFT_INVALID, "UTF-8");
    one.bytes = NULL;
    FAILS(weft_space_out(space, &one, 1), WEFT_INVALID, "bytes of a field is null");
    FAILS(weft_space_create(objects, "bag", &again), WEFT_PORT_TAKEN, "bag");
    FAILS(weft_objects_destroy(objects), WEFT_INVALID, "not given back: 1");
    FAILS(weft_tuple_free(NULL), WEFT_INVALID, "tuple is null");
}

int
main(void)
{
    weft_field go = TEXT("go");
    weft_job *job;
    weft_objects *objects;
    weft_space *space;
    uint32_t rank, size;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    OK(weft_objects_create(job, NULL, 0, NULL, 0, &objects));
    OK(weft_space_create(objects, "bag", &space));
    everybody_puts(space, rank, size, true);
    OK(weft_barrier(job));
    everybody_puts(space, rank, size, false);
    OK(weft_barrier(job));
    all_kinds(space, rank);
    active(space, rank, size);
    // All read one tuple, and the last rank takes it.
    if (rank == 0)
        OK(weft_space_out(space, &go, 1));
    OK(weft_space_rd(space, &go, 1, NULL));
    OK(weft_barrier(job));
    if (rank == size - 1)
        OK(weft_space_in(space, &go, 1, NULL));
    OK(weft_space_out(space, NULL, 0));
    OK(weft_space_in(space, NULL, 0, NULL));
    wrong(objects, space);
    OK(weft_barrier(job));
    OK(weft_space_destroy(space));
    OK(weft_objects_destroy(objects));
    OK(weft_leave(job));
    return 0;
}

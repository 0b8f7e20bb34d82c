// Shared objects at all places: operations, guards, arguments in pieces, and what goes wrong.

#include "check.h"
#include <stdatomic.h>
#include <weft-objects.h>

// Operations of a box, by their numbers.
enum { VALUE, ADD, AWAIT, TAKE, CLOSE, ECHO, SPOIL };

enum { FIRST = 5, LARGE = 100000 };

struct box {
    int64_t value;
    int64_t is_closed;
};

// A value to look for or to add, and what it came to.
struct wish {
    int64_t value;
    int64_t found;
};

static atomic_int restored, destroyed;

static void
give(weft_result *result, int64_t value)
{
    void *place = weft_result_extend(result, sizeof value);

    HOLDS(place != NULL);
    memcpy(place, &value, sizeof value);
}

static weft_outcome
value(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    const struct box *box = instance;

    HOLDS(arguments != NULL);
    if (length != 0)
        return WEFT_OUTCOME_MALFORMED;
    give(result, box->value);
    return WEFT_OUTCOME_DONE;
}

// Adds numbers, however many.
static weft_outcome
add(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct box *box = instance;
    const int64_t *numbers = arguments;

    HOLDS((uintptr_t)arguments % 8 == 0);
    if (length % sizeof *numbers != 0)
        return WEFT_OUTCOME_MALFORMED;
    for (size_t i = 0; i < length / sizeof *numbers; i++)
        box->value += numbers[i];
    give(result, box->value);
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
await(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    const struct box *box = instance;

    // Nothing of this is in the result, unless it is done.
    give(result, -7);
    if (length != sizeof box->value)
        return WEFT_OUTCOME_MALFORMED;
    if (box->value < *(const int64_t *)arguments)
        return WEFT_OUTCOME_BLOCKED;
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
take_none(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    const struct box *box = instance;

    (void)arguments, (void)length;
    give(result, -1);
    return box->is_closed && box->value == 0 ? WEFT_OUTCOME_DONE : WEFT_OUTCOME_BLOCKED;
}

static weft_outcome
take_one(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct box *box = instance;

    (void)arguments, (void)length;
    if (box->value == 0)
        return WEFT_OUTCOME_BLOCKED;
    give(result, --box->value);
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
close_box(void *instance, const void *arguments, size_t length, weft_result *result)
{
    struct box *box = instance;

    (void)arguments, (void)length, (void)result;
    box->is_closed = 1;
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
echo(const void *instance, const void *arguments, size_t length, weft_result *result)
{
    (void)instance;
    // In two parts, of which the first may be of no bytes.
    memcpy(weft_result_extend(result, length / 2), arguments, length / 2);
    memcpy(weft_result_extend(result, length - length / 2), (const char *)arguments + length / 2,
           length - length / 2);
    return WEFT_OUTCOME_DONE;
}

static weft_outcome
spoil(void *instance, const void *arguments, size_t length, weft_result *result)
{
    (void)instance, (void)arguments;
    if (length == 0)
        return (weft_outcome)9;
    HOLDS(weft_result_extend(result, SIZE_MAX) == NULL);
    HOLDS(strstr(weft_error_text(), "no memory") != NULL);
    return WEFT_OUTCOME_DONE;
}

static void *
restore(const void *state, size_t length)
{
    struct box *box;

    if (length != sizeof *box)
        return NULL;
    HOLDS((uintptr_t)state % 8 == 0);
    box = malloc(sizeof *box);
    HOLDS(box != NULL);
    memcpy(box, state, sizeof *box);
    restored++;
    return box;
}

static void
capture(const void *instance, weft_result *state)
{
    memcpy(weft_result_extend(state, sizeof(struct box)), instance, sizeof(struct box));
}

static void
destroy(void *instance)
{
    destroyed++;
    free(instance);
}

static const weft_object_operation operations[] = {
    { "value", value, NULL },         { "add", NULL, add },   { "await", await, NULL },
    { "take", take_none, take_one },  { "close", NULL, close_box }, { "echo", echo, NULL },
    { "spoil", NULL, spoil },
};
static const weft_object_type box_type = { "Box", operations, 7, restore, capture, destroy };
static const weft_object_type other_type = { "Other", NULL, 0, restore, capture, destroy };

// Result of an operation that gives a number.
static int64_t
number_of(weft_answer *answer)
{
    const void *bytes;
    size_t length;
    int64_t number;

    OK(weft_answer_bytes(answer, &bytes, &length));
    HOLDS(length == sizeof number && (uintptr_t)bytes % 8 == 0);
    number = *(const int64_t *)bytes;
    OK(weft_answer_free(answer));
    return number;
}

static int64_t
invoke(weft_object *object, uint16_t operation, const int64_t *numbers, size_t count)
{
    weft_iov piece = { numbers, count * sizeof *numbers };
    weft_answer *answer;

    OK(weft_object_invoke(object, operation, &piece, 1, &answer));
    return number_of(answer);
}

static int64_t
sum_of_all(weft_team *team, int64_t value)
{
    OK(weft_all_reduce(team, &value, 1, WEFT_I64, WEFT_SUM));
    return value;
}

// Arguments in pieces, at odd addresses, large, and of no bytes. Adds 28.
static void
in_pieces(weft_object *box)
{
    int64_t numbers[4] = { 1, 2, 3, 4 }, eleven = 11, seven = 7;
    char odd[sizeof eleven + 1], *large = malloc(LARGE);
    weft_iov pieces[3] = { { numbers, 24 }, { "", 0 }, { numbers + 3, 8 } };
    weft_iov one = { odd + 1, sizeof eleven }, much[2] = { { large, 7 }, { large + 7, LARGE - 7 } };
    weft_answer *answer;
    const void *bytes;
    size_t length;

    OK(weft_object_invoke(box, ADD, pieces, 3, NULL));
    memcpy(odd + 1, &eleven, sizeof eleven);
    OK(weft_object_invoke(box, ADD, &one, 1, NULL));
    invoke(box, ADD, &seven, 1);
    OK(weft_object_invoke(box, ADD, NULL, 0, NULL));
    memset(large, 'x', LARGE);
    OK(weft_object_invoke(box, ECHO, much, 2, &answer));
    OK(weft_answer_bytes(answer, &bytes, &length));
    HOLDS(length == LARGE && memcmp(bytes, large, LARGE) == 0);
    OK(weft_answer_free(answer));
    OK(weft_object_invoke(box, ECHO, NULL, 0, &answer));
    OK(weft_answer_bytes(answer, &bytes, &length));
    HOLDS(length == 0 && bytes != NULL);
    OK(weft_answer_free(answer));
    free(large);
}

// Several operations under way. Adds 6.
static void
under_way(weft_object *box)
{
    weft_invocation *begun[3];
    weft_answer *answer;
    int64_t numbers[3] = { 1, 2, 3 };

    for (int i = 0; i < 3; i++) {
        weft_iov piece = { &numbers[i], sizeof numbers[i] };

        OK(weft_object_begin(box, ADD, &piece, 1, &begun[i]));
    }
    OK(weft_invocation_wait(begun[1], &answer));
    HOLDS(number_of(answer) >= FIRST + 2);
    OK(weft_invocation_wait(begun[0], NULL));
    OK(weft_invocation_wait(begun[2], NULL));
}

static bool
look(const void *instance, void *user)
{
    const struct box *box = instance;
    struct wish *wish = user;

    if (box->value < wish->value)
        return false;
    wish->found = box->value;
    return true;
}

static bool
change(void *instance, void *user)
{
    struct box *box = instance;
    struct wish *wish = user;

    if (wish->value == 0)
        return false;
    box->value += wish->value;
    wish->found = box->value;
    return true;
}

// The fast ways, where there is a copy and the guard is true.
static void
at_the_copy(weft_object *box, uint32_t placement, uint32_t rank)
{
    struct wish least = { FIRST, 0 }, too_much = { INT64_MAX, 0 };
    struct wish one = { 1, 0 }, back = { -1, 0 }, nothing = { 0, 0 };
    bool done;

    OK(weft_object_read_here(box, AWAIT, look, &least, &done));
    HOLDS(done == (placement == WEFT_REPLICATED || placement == rank));
    HOLDS(least.found == 0 || least.found >= FIRST);
    HOLDS(done == (least.found != 0));
    OK(weft_object_read_here(box, AWAIT, look, &too_much, &done));
    HOLDS(!done && too_much.found == 0);
    OK(weft_object_write_here(box, ADD, change, &one, &done));
    HOLDS(done == (placement == rank) && done == (one.found != 0));
    if (done)
        OK(weft_object_write_here(box, ADD, change, &back, &done));
    OK(weft_object_write_here(box, ADD, change, &nothing, &done));
    HOLDS(!done);
}

// All ranks take what there is, and end when the box is closed and empty.
static int64_t
take_all(weft_object *box, bool closes)
{
    int64_t taken = 0;

    if (closes)
        OK(weft_object_invoke(box, CLOSE, NULL, 0, NULL));
    while (invoke(box, TAKE, NULL, 0) != -1)
        taken++;
    return taken;
}

static weft_object *
box_at(weft_objects *objects, const char *name, uint32_t placement, int64_t first, bool creates)
{
    struct box state = { first, 0 };
    weft_object *box, *again;

    if (!creates) {
        OK(weft_object_find(objects, name, "Box", &box));
        return box;
    }
    OK(weft_object_create(objects, name, "Box", &state, sizeof state, placement, &box));
    FAILS(weft_object_create(objects, name, "Box", &state, sizeof state, placement, &again),
          WEFT_PORT_TAKEN, name);
    return box;
}

// An object that is moved through all places while all ranks write it.
static void
moves(weft_objects *objects, weft_team *team, uint32_t placement, uint32_t rank, uint32_t size)
{
    weft_object *box;
    int64_t one = 1, all = (size + 1) * size;
    uint32_t now;
    char name[40];

    snprintf(name, sizeof name, "mover %u", placement);
    box = box_at(objects, name, placement, 0, rank == 0);
    for (uint32_t home = 0; home <= size; home++) {
        invoke(box, ADD, &one, 1);
        if (rank == home % size)
            OK(weft_object_place(box, home == size ? WEFT_REPLICATED : home));
    }
    OK(weft_object_invoke(box, AWAIT, &(weft_iov){ &all, sizeof all }, 1, NULL));
    HOLDS(sum_of_all(team, 0) == 0);
    if (rank == 0)
        OK(weft_object_place(box, placement));
    HOLDS(sum_of_all(team, 0) == 0);
    do {
        HOLDS(invoke(box, VALUE, NULL, 0) == all);
        OK(weft_object_placement(box, &now));
    } while (now != placement);
    FAILS(weft_object_place(box, size), WEFT_NO_SUCH_RANK, "");
    HOLDS(sum_of_all(team, 0) == 0);
    OK(weft_object_destroy(box));
}

static void
at(weft_objects *objects, weft_team *team, uint32_t placement, uint32_t rank, uint32_t size)
{
    weft_object *box, *tickets;
    weft_invocation *take;
    weft_answer *answer;
    uint64_t number, least;
    int64_t all = FIRST + 34 * (int64_t)size, ranks = size;
    char name[40];

    snprintf(name, sizeof name, "box %u", placement);
    box = box_at(objects, name, placement, FIRST, rank == size - 1);
    HOLDS(invoke(box, VALUE, NULL, 0) >= FIRST);
    at_the_copy(box, placement, rank);
    in_pieces(box);
    under_way(box);
    OK(weft_object_invoke(box, AWAIT, &(weft_iov){ &all, sizeof all }, 1, NULL));
    OK(weft_object_number(box, &number));
    least = number;
    OK(weft_all_reduce(team, &least, 1, WEFT_U64, WEFT_MIN));
    HOLDS(least == number && invoke(box, VALUE, NULL, 0) == all);
    HOLDS(sum_of_all(team, 0) == 0);
    HOLDS(sum_of_all(team, take_all(box, rank == 0)) == all);
    OK(weft_object_destroy(box));

    moves(objects, team, placement, rank, size);
    // All wait before there is anything.
    snprintf(name, sizeof name, "tickets %u", placement);
    tickets = box_at(objects, name, placement, 0, rank == 0);
    OK(weft_object_begin(tickets, TAKE, NULL, 0, &take));
    HOLDS(sum_of_all(team, 1) == ranks);
    if (rank == 0)
        OK(weft_object_invoke(tickets, ADD, &(weft_iov){ &ranks, sizeof ranks }, 1, NULL));
    OK(weft_invocation_wait(take, &answer));
    HOLDS(sum_of_all(team, number_of(answer)) == ranks * (ranks - 1) / 2);
    OK(weft_object_destroy(tickets));
}

// What a type may not be.
static void
wrong_types(weft_job *job)
{
    weft_objects *none;
    weft_object_operation idle = { "idle", NULL, NULL };
    weft_object_type types[2] = { box_type, box_type };

    FAILS(weft_objects_create(NULL, types, 1, NULL, 0, &none), WEFT_INVALID, "job is null");
    FAILS(weft_objects_create(job, types, 1, NULL, 0, NULL), WEFT_INVALID, "result is null");
    FAILS(weft_objects_create(job, NULL, 1, NULL, 0, &none), WEFT_INVALID, "types is null");
    FAILS(weft_objects_create(job, types, 1, NULL, 1, &none), WEFT_INVALID, "processes is null");
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "two types 'Box'");
    types[1].name = NULL;
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "name of a type");
    types[1] = other_type;
    types[1].operation_count = 1;
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "operations is null");
    types[1].operations = &idle;
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "'idle'");
    types[1] = other_type;
    types[1].restore = NULL;
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "makes instances");
    types[1] = other_type;
    types[1].capture = NULL;
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "gives states");
    types[1] = other_type;
    types[1].destroy = NULL;
    FAILS(weft_objects_create(job, types, 2, NULL, 0, &none), WEFT_INVALID, "frees instances");
    HOLDS(weft_result_extend(NULL, 1) == NULL);
}

// What cannot be created, found or got.
static void
wrong_objects(weft_job *job, weft_objects *objects, weft_object *box)
{
    weft_object *none;
    weft_objects *again;
    struct box state = { 0, 0 };
    const size_t size = sizeof state;
    char name[257];

    memset(name, 'n', 256);
    name[256] = '\0';
    FAILS(weft_objects_create(job, &box_type, 1, NULL, 0, &again), WEFT_PORT_TAKEN, "weft.objects");
    FAILS(weft_object_create(objects, "x", "Pox", &state, size, 0, &none), WEFT_INVALID, "'Pox'");
    FAILS(weft_object_create(objects, "x", "Box", &state, 3, 0, &none), WEFT_INVALID, "state");
    FAILS(weft_object_create(objects, name, "Box", &state, size, 0, &none), WEFT_TOO_LONG, "256");
    FAILS(weft_object_create(objects, "x", "Box", &state, size, 99, &none), WEFT_NO_SUCH_RANK, "99");
    FAILS(weft_object_create(objects, "x", "Box", &state, size, 1u << 30, &none),
          WEFT_NO_SUCH_RANK, "1073741824");
    FAILS(weft_object_create(objects, "x", "Box", NULL, size, 0, &none), WEFT_INVALID, "null");
    FAILS(weft_object_create(NULL, "x", "Box", &state, size, 0, &none), WEFT_INVALID, "null");
    FAILS(weft_object_create_unnamed(objects, "x", "Pox", &state, size, 0, &none), WEFT_INVALID,
          "'Pox'");
    FAILS(weft_object_find(objects, "errors", "Other", &none), WEFT_INVALID, "'Other'");
    FAILS(weft_object_get(objects, 1u << 30, "Box", &none), WEFT_NO_OBJECT, "1073741824");
    FAILS(weft_object_get((weft_objects *)box, 0, "Box", &none), WEFT_INVALID, "no set of objects");
    FAILS(weft_object_fork(objects, "none", 0, NULL, 0), WEFT_INVALID, "'none'");
    FAILS(weft_objects_run(objects, "none", NULL, 0), WEFT_INVALID, "'none'");
    FAILS(weft_process_fail(objects, "no"), WEFT_INVALID, "not given to a process");
    FAILS(weft_objects_destroy(objects), WEFT_INVALID, "not given back: 1");
}

// Operations that are none, and arguments that are none.
static void
wrong_operations(weft_objects *objects, weft_object *box)
{
    weft_iov three = { "abc", 3 }, null = { NULL, 3 };
    weft_invocation *begun;
    weft_answer *answer;
    bool done;

    FAILS(weft_object_invoke(box, 7, NULL, 0, &answer), WEFT_INVALID, "no operation 7");
    FAILS(weft_object_invoke(box, UINT16_MAX, NULL, 0, &answer), WEFT_INVALID, "no operation 65535");
    FAILS(weft_object_invoke(box, VALUE, &three, 1, &answer), WEFT_INVALID, "cannot read its");
    FAILS(weft_object_invoke(box, ADD, &three, 1, NULL), WEFT_INVALID, "cannot read its arguments");
    FAILS(weft_object_invoke(box, ADD, &null, 1, NULL), WEFT_INVALID, "base of a piece is null");
    FAILS(weft_object_invoke(NULL, ADD, NULL, 0, NULL), WEFT_INVALID, "object is null");
    FAILS(weft_object_invoke((weft_object *)objects, ADD, NULL, 0, NULL), WEFT_INVALID,
          "no object");
    OK(weft_object_begin(box, ADD, &three, 1, &begun));
    FAILS(weft_objects_destroy(objects), WEFT_INVALID, "not given back: 2");
    FAILS(weft_invocation_wait(begun, &answer), WEFT_INVALID, "cannot read its arguments");
    FAILS(weft_invocation_wait((weft_invocation *)box, &answer), WEFT_INVALID, "no invocation");
    FAILS(weft_object_read_here(box, VALUE, NULL, NULL, &done), WEFT_INVALID, "code is null");
    FAILS(weft_object_write_here(box, ADD, NULL, NULL, &done), WEFT_INVALID, "code is null");
    FAILS(weft_object_read_here(box, VALUE, look, NULL, NULL), WEFT_INVALID, "result is null");
    FAILS(weft_answer_free(NULL), WEFT_INVALID, "answer is null");
    HOLDS(invoke(box, VALUE, NULL, 0) == 0);
}

// Code that breaks its rules breaks its object, and nothing else. What it says is on stderr.
static void
broken(weft_objects *objects, weft_object *box)
{
    weft_object *others[2];
    weft_iov long_result = { "x", 1 };
    struct box state = { 0, 0 };
    uint64_t number;
    uint32_t places[2] = { WEFT_REPLICATED, 0 };

    for (int i = 0; i < 2; i++) {
        OK(weft_object_create_unnamed(objects, "box 0", "Box", &state, sizeof state, places[i],
                                      &others[i]));
        FAILS(weft_object_invoke(others[i], SPOIL, &long_result, i, NULL), WEFT_PANICKED, "'box 0'");
        FAILS(weft_object_invoke(others[i], VALUE, NULL, 0, NULL), WEFT_PANICKED, "'box 0'");
        OK(weft_object_number(others[i], &number));
        OK(weft_object_destroy(others[i]));
        OK(weft_object_get(objects, number, "Box", &others[i]));
        FAILS(weft_object_invoke(others[i], ADD, NULL, 0, NULL), WEFT_PANICKED, "'box 0'");
        OK(weft_object_destroy(others[i]));
    }
    HOLDS(invoke(box, VALUE, NULL, 0) == 0);
}

// Whoever deletes an object, or waits at it, or comes late: it is gone for all, and its name is free.
static void
deleted(weft_objects *objects, weft_team *team, uint32_t placement, uint32_t rank)
{
    weft_object *box, *again;
    uint64_t number;
    char name[40];

    snprintf(name, sizeof name, "gone %u", placement);
    box = box_at(objects, name, placement, 0, rank == 0);
    OK(weft_object_number(box, &number));
    HOLDS(sum_of_all(team, 0) == 0);
    if (rank == 0) {
        OK(weft_object_delete(box));
    } else {
        FAILS(weft_object_invoke(box, AWAIT, &(weft_iov){ &(int64_t){ 9 }, 8 }, 1, NULL),
              WEFT_NO_OBJECT, "the object 'gone");
        FAILS(weft_object_delete(box), WEFT_NO_OBJECT, "was deleted");
    }
    FAILS(weft_object_get(objects, number, "Box", &again), WEFT_NO_OBJECT, "no object with the number");
    HOLDS(sum_of_all(team, 0) == 0);
    box = box_at(objects, name, placement, 7, rank == 0);
    HOLDS(invoke(box, VALUE, NULL, 0) == 7);
    OK(weft_object_destroy(box));
}

int
main(void)
{
    weft_object_type types[2] = { box_type, other_type };
    weft_job *job;
    weft_team *team;
    weft_objects *objects;
    weft_object *box;
    uint32_t rank, size;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    OK(weft_team_all(job, &team));
    wrong_types(job);
    OK(weft_objects_create(job, types, 2, NULL, 0, &objects));
    box = box_at(objects, "errors", WEFT_REPLICATED, 0, rank == 0);
    wrong_objects(job, objects, box);
    wrong_operations(objects, box);
    if (rank == 0)
        broken(objects, box);
    OK(weft_object_destroy(box));
    for (uint32_t home = 0; home < size; home++)
        at(objects, team, home, rank, size);
    at(objects, team, WEFT_REPLICATED, rank, size);
    deleted(objects, team, 0, rank);
    deleted(objects, team, WEFT_REPLICATED, rank);
    OK(weft_barrier(job));
    OK(weft_objects_destroy(objects));
    HOLDS(restored > 0 && restored == destroyed);
    OK(weft_team_free(team));
    OK(weft_leave(job));
    return 0;
}

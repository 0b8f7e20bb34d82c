// Rank 0 has a phone book; all ranks write into it and look up one another.
//
//     weft run -n 4 -- ./phonebook

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { ENTRIES = 1000, FIRST = 5550 };

static const uint64_t SECOND = 1000000000;

// Entry of the book. A question has the name only, and an answer to it the number.
struct entry {
    char name[28];
    uint32_t number;
};

struct book {
    struct entry entries[ENTRIES];
    size_t count;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "phonebook: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
fail(const char *text)
{
    fprintf(stderr, "phonebook: %s\n", text);
    exit(1);
}

static struct entry *
look_up(struct book *book, const char *name)
{
    for (size_t i = 0; i < book->count; i++)
        if (strncmp(book->entries[i].name, name, sizeof book->entries[i].name) == 0)
            return &book->entries[i];
    return NULL;
}

static void
read_entry(weft_request *request, struct entry *entry)
{
    weft_message *message;

    check(weft_request_message(request, &message));
    check(weft_message_read(message, entry, sizeof *entry));
    entry->name[sizeof entry->name - 1] = '\0';
}

static void
add(weft_request *request, void *user)
{
    struct book *book = user;
    struct entry asked, *there;

    read_entry(request, &asked);
    there = look_up(book, asked.name);
    if (there == NULL && book->count < ENTRIES) {
        there = &book->entries[book->count++];
        *there = asked;
    }
    if (there != NULL && there->number == asked.number)
        check(weft_request_reply(request, &there->number, sizeof there->number));
    else
        check(weft_request_fail(request, there == NULL ? "the book is full" : "it is taken"));
}

static void
find(weft_request *request, void *user)
{
    struct entry asked, *there;
    char wrong[64];

    read_entry(request, &asked);
    there = look_up(user, asked.name);
    if (there != NULL) {
        check(weft_request_reply(request, &there->number, sizeof there->number));
    } else {
        snprintf(wrong, sizeof wrong, "nobody is called %s", asked.name);
        check(weft_request_fail(request, wrong));
    }
}

static struct entry
entry_of(uint32_t rank)
{
    struct entry entry = { .number = FIRST + rank };

    snprintf(entry.name, sizeof entry.name, "rank %u", rank);
    return entry;
}

// Looks up all ranks. All calls are under way before the first answer is waited for.
static void
find_all(const weft_client *client, uint32_t size)
{
    weft_pending_call **calls = calloc(size, sizeof *calls);
    weft_message *answer;
    uint32_t number;

    if (calls == NULL)
        fail("there is no memory");
    for (uint32_t rank = 0; rank < size; rank++) {
        struct entry asked = entry_of(rank);
        weft_iov piece = { &asked, sizeof asked };

        check(weft_call_begin(client, 0, &piece, 1, &calls[rank]));
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        check(weft_call_wait(calls[rank], &answer));
        check(weft_message_read(answer, &number, sizeof number));
        check(weft_message_release(answer));
        if (number != FIRST + rank)
            fail("the number is wrong");
    }
    free(calls);
}

int
main(void)
{
    struct book book = { .count = 0 };
    struct entry mine, nobody = { .name = "Nobody" };
    weft_job *job;
    weft_service *adding = NULL, *finding = NULL;
    weft_client *adder, *finder;
    weft_message *answer;
    weft_status status;
    uint32_t rank, size;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    // The callbacks run while this rank waits, and so need no lock.
    check(weft_interrupts_off(job));
    if (rank == 0) {
        check(weft_service_create(job, "add", add, &book, &adding));
        check(weft_service_create(job, "find", find, &book, &finding));
    }
    check(weft_client_create(job, "add", &adder));
    check(weft_client_create(job, "find", &finder));

    mine = entry_of(rank);
    check(weft_call(adder, 0, &mine, sizeof mine, &answer));
    check(weft_message_release(answer));
    check(weft_barrier(job));
    find_all(finder, size);
    status = weft_call_within(finder, 0, &nobody, sizeof nobody, 10 * SECOND, &answer);
    if (status != WEFT_CALL_FAILED)
        fail("somebody is called Nobody");
    if (rank == 0)
        printf("%u numbers found; and then: %s\n", size, weft_error_text());
    check(weft_barrier(job)); // The services stay until all have asked.
    check(weft_client_free(finder));
    check(weft_client_free(adder));
    if (rank == 0) {
        check(weft_service_destroy(finding));
        check(weft_service_destroy(adding));
    }
    check(weft_leave(job));
    return 0;
}

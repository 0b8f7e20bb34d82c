// All ranks count people, district by district: into a region that the others read, by calls to the
// office, in a register of which every rank has the same copy, and with a packet to the next rank.
//
//     weft run -n 4 -- ./census

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { DISTRICTS = 8 };

// What the callbacks of a rank count.
struct books {
    // People whom the office at rank 0 was told of.
    atomic_ullong reported;
    // Entries of the register, and a number that stands for all of them in their order.
    atomic_ullong entries, digest;
    // Packets of the rank before.
    atomic_ullong visits;
    // Entries that there will be.
    uint64_t expected;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "census: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// The office adds up what it is told, and answers with the sum.
static void
report(weft_request *request, void *user)
{
    struct books *books = user;
    weft_message *message;
    uint64_t people, sum;

    check(weft_request_message(request, &message));
    check(weft_message_read(message, &people, sizeof people));
    sum = atomic_fetch_add(&books->reported, people) + people;
    check(weft_request_reply(request, &sum, sizeof sum));
}

static void
enter(weft_message *message, uint64_t number, void *user)
{
    struct books *books = user;
    uint64_t people;

    (void)number;
    check(weft_message_read(message, &people, sizeof people));
    atomic_store(&books->digest, atomic_load(&books->digest) * 31 + people);
    atomic_fetch_add(&books->entries, 1);
}

static void
visited(weft_arrival *packet, void *user)
{
    struct books *books = user;

    (void)packet;
    atomic_fetch_add(&books->visits, 1);
}

static bool
are_complete(void *user)
{
    struct books *books = user;

    return atomic_load(&books->entries) == books->expected
        && atomic_load(&books->visits) == DISTRICTS;
}

static uint64_t
ask_office(const weft_client *office, uint64_t people)
{
    weft_message *answer;
    uint64_t sum;

    check(weft_call(office, 0, &people, sizeof people, &answer));
    check(weft_message_read(answer, &sum, sizeof sum));
    check(weft_message_release(answer));
    return sum;
}

static void
write_count(weft_region *region, int district, uint64_t people)
{
    void *bytes;

    check(weft_region_start_write(region, &bytes));
    ((uint64_t *)bytes)[district] = people;
    check(weft_region_end_write(region));
}

// Counts this rank's districts, and tells of each in four ways.
static void
count(weft_job *job, weft_region *mine, const weft_client *office, const weft_order *entries)
{
    weft_packet *packet;
    uint32_t rank, size;

    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    for (int district = 0; district < DISTRICTS; district++) {
        uint64_t people = 100 * (rank + 1) + (uint64_t)district;
        weft_iov entry = { &people, sizeof people };

        write_count(mine, district, people);
        ask_office(office, people);
        check(weft_order_broadcast(entries, &entry, 1, NULL));
        check(weft_packet_alloc(job, &packet));
        check(weft_packet_put(packet, &people, sizeof people));
        check(weft_packet_unicast(packet, (rank + 1) % size));
    }
}

// All people, by the regions of all ranks.
static uint64_t
total_of(const weft_regions *regions, uint32_t size)
{
    weft_region *region;
    const void *bytes;
    uint64_t total = 0;

    for (uint32_t rank = 0; rank < size; rank++) {
        check(weft_region_map(regions, (weft_region_name){ rank, 0 }, &region));
        check(weft_region_start_read(region, &bytes));
        for (int district = 0; district < DISTRICTS; district++)
            total += ((const uint64_t *)bytes)[district];
        check(weft_region_end_read(region));
        check(weft_region_unmap(region));
    }
    return total;
}

// Ends the program if the registers differ, or the office knows of other people than the regions.
static void
compare(const weft_job *job, const struct books *books, uint64_t reported, uint64_t total)
{
    weft_team *all;
    uint64_t least = atomic_load(&books->digest), greatest = least;

    check(weft_team_all(job, &all));
    check(weft_all_reduce(all, &least, 1, WEFT_U64, WEFT_MIN));
    check(weft_all_reduce(all, &greatest, 1, WEFT_U64, WEFT_MAX));
    check(weft_team_free(all));
    if (least != greatest || reported != total) {
        fprintf(stderr, "census: the ranks disagree\n");
        exit(1);
    }
}

int
main(void)
{
    struct books books = { 0 };
    weft_job *job;
    weft_service *service = NULL;
    weft_client *office;
    weft_order *entries;
    weft_regions *regions;
    weft_region *mine;
    weft_region_name name;
    uint32_t rank, size;
    uint64_t total;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    books.expected = (uint64_t)size * DISTRICTS;
    if (rank == 0)
        check(weft_service_create(job, "office", report, &books, &service));
    check(weft_client_create(job, "office", &office));
    check(weft_order_create(job, "register", enter, &books, &entries));
    check(weft_packet_receive(job, visited, &books));
    check(weft_regions_open(job, &regions));
    check(weft_region_create(regions, DISTRICTS * sizeof(uint64_t), WEFT_HINT_INVALIDATE, &name));
    check(weft_regions_barrier(regions));
    check(weft_region_map(regions, name, &mine));

    count(job, mine, office, entries);
    check(weft_poll_until(job, are_complete, &books));
    check(weft_barrier(job));
    total = total_of(regions, size);
    compare(job, &books, ask_office(office, 0), total);
    if (rank == 0)
        printf("%llu people in %llu districts, and all ranks agree\n", (unsigned long long)total,
               (unsigned long long)books.expected);
    check(weft_barrier(job)); // The office stays until all have asked.
    check(weft_region_unmap(mine));
    check(weft_regions_close(regions));
    check(weft_order_destroy(entries));
    check(weft_client_free(office));
    if (rank == 0)
        check(weft_service_destroy(service));
    check(weft_leave(job));
    return 0;
}

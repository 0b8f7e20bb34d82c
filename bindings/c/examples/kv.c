// A replicated key-value store: every rank has all pairs, and what changes them is broadcast in one
// order. All ranks put values, some of them under the same keys; in the end all replicas are equal.
//
//     weft run -n 4 -- ./kv

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { PAIRS = 1000 };

struct pair {
    char key[24], value[24];
};

// One rank's replica, and the order of all changes.
struct store {
    struct pair pairs[PAIRS];
    size_t count;
    weft_order *puts;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "kv: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static struct pair *
find(struct store *store, const char *key)
{
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->pairs[i].key, key) == 0)
            return &store->pairs[i];
    return NULL;
}

// Runs at all ranks, for the same changes in the same order.
static void
apply(weft_message *message, uint64_t number, void *user)
{
    struct store *store = user;
    struct pair put, *pair;

    (void)number;
    check(weft_message_read(message, &put, sizeof put));
    pair = find(store, put.key);
    if (pair == NULL && store->count < PAIRS)
        pair = &store->pairs[store->count++];
    if (pair != NULL)
        *pair = put;
}

// Returns when this replica has it; by then it has every put before it as well.
static void
put(struct store *store, const char *key, const char *value)
{
    struct pair pair = { 0 };
    weft_iov piece = { &pair, sizeof pair };

    snprintf(pair.key, sizeof pair.key, "%s", key);
    snprintf(pair.value, sizeof pair.value, "%s", value);
    check(weft_order_broadcast_and_wait(store->puts, &piece, 1, NULL));
}

// From this rank's memory: nothing is sent.
static const char *
get(struct store *store, const char *key)
{
    const struct pair *pair = find(store, key);

    return pair == NULL ? "" : pair->value;
}

// A number that stands for all pairs.
static uint64_t
digest_of(const struct store *store)
{
    const unsigned char *bytes = (const unsigned char *)store->pairs;
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < store->count * sizeof store->pairs[0]; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

// Ends the program if the replicas differ.
static void
compare(const weft_job *job, const struct store *store)
{
    weft_team *all;
    uint64_t least = digest_of(store), greatest = least;

    check(weft_team_all(job, &all));
    check(weft_all_reduce(all, &least, 1, WEFT_U64, WEFT_MIN));
    check(weft_all_reduce(all, &greatest, 1, WEFT_U64, WEFT_MAX));
    check(weft_team_free(all));
    if (least != greatest) {
        fprintf(stderr, "kv: replicas differ\n");
        exit(1);
    }
}

int
main(void)
{
    static struct store store;
    weft_job *job;
    uint32_t rank, size;
    char me[24], shared[24];

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    // The callback runs while this rank waits, and so needs no lock.
    check(weft_interrupts_off(job));
    check(weft_order_create(job, "kv", apply, &store, &store.puts));
    snprintf(me, sizeof me, "rank %u", rank);
    for (int n = 0; n < 10; n++) {
        snprintf(shared, sizeof shared, "shared %d", n);
        put(&store, shared, me); // All ranks write it: one of them is last.
    }
    put(&store, me, "was here");
    if (strcmp(get(&store, me), "was here") != 0) {
        fprintf(stderr, "kv: what was put is not there\n");
        return 1;
    }

    check(weft_barrier(job)); // All puts have their numbers,
    put(&store, "end", "reached"); // and this one comes after them.
    compare(job, &store);
    if (rank == 0)
        printf("%u replicas of %zu pairs are equal; %s was last\n", size, store.count,
               get(&store, "shared 0"));
    check(weft_barrier(job)); // Nobody needs what others had any more.
    check(weft_order_destroy(store.puts));
    check(weft_leave(job));
    return 0;
}

/* Collective operations of libweft-fi.so, for libraries between a program and its MPI library.

   A team is some ranks of the job, its members, who all open it by the same name and in the same order. All of them begin the same
   operations of it in the same order, each in one thread at a time; different teams are independent. Functions return 0 or a
   negative errno:

     -EHOSTUNREACH  this process has no part in a job: its MPI library does not use the provider
     -ENOENT        no such team
     -EINVAL        arguments that cannot be, or a team that another thread uses
     -EIO           the job cannot go on; standard error says why
*/
#ifndef WEFT_COLL_H
#define WEFT_COLL_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_COLL_VERSION 3
/* Words of the name of a team. */
#define WEFT_COLL_NAME 2

/* Makes of `count` elements `before` and as many behind them in the order of members what both give, in place of `after`. */
typedef void weft_coll_combine(const void *before, void *after, size_t count, void *context);

/* Is told that an operation which was started has ended at this member. */
typedef void weft_coll_ended(void *context);

/* Place of the bytes for one member, or of one. */
struct weft_coll_part {
    size_t at, bytes;
};

/* Kinds of operations, and what of a call they read. */
enum weft_coll_operation {
    /* Nothing. */
    WEFT_COLL_BARRIER,
    /* The elements of member `root`, in `mine`, to all others, in `into`. */
    WEFT_COLL_BROADCAST,
    /* The elements of each member to all, in the order of members. `mine` may be where it belongs. */
    WEFT_COLL_ALL_GATHER,
    /* The elements of all members, combined in the order of members: the same bits at all members and in every run. To `root`, the
       only one that needs room in `into`, or to all. `into` may be `mine`. */
    WEFT_COLL_REDUCE,
    WEFT_COLL_ALL_REDUCE,
    /* The elements of each member to `root`, the only one that needs room, in the order of members; or of what `root` has in `mine`
       as many to each. What is the root's own may be where it belongs. */
    WEFT_COLL_GATHER,
    WEFT_COLL_SCATTER,
    /* `count` elements of each member for each. `into` is other memory than `mine`. */
    WEFT_COLL_ALL_TO_ALL,
    /* As a reduction: to each member those of the members up to it, or of those before it, of which member 0 gets none. */
    WEFT_COLL_SCAN,
    WEFT_COLL_EXCLUSIVE_SCAN,
    /* As a reduction to all, of `count` elements for each member: to each those for it. `into` may be where `mine` begins. */
    WEFT_COLL_REDUCE_SCATTER,
    /* The same of as many bytes as the member that gives them and the member that gets them say: one of `rooms` or `parts` for each
       member. A gather or scatter reads them at its root only; where a member has one part, that is `count` elements. */
    WEFT_COLL_GATHER_VARIED,
    WEFT_COLL_SCATTER_VARIED,
    WEFT_COLL_ALL_GATHER_VARIED,
    WEFT_COLL_ALL_TO_ALL_VARIED,
};

/* An operation, and one member's memory for it: `count` elements of `size` bytes. */
struct weft_coll_call {
    enum weft_coll_operation operation;
    size_t root;
    const void *mine;
    void *into;
    size_t count, size;
    weft_coll_combine *combine;
    void *context;
    const struct weft_coll_part *parts, *rooms;
};

struct weft_coll {
    uint32_t version;
    /* Which rank this is, and of how many in the job. */
    int (*place)(uint32_t *rank, uint32_t *ranks);
    /* What to call while an operation waits and completions are there to be read. The first one that is said counts. */
    int (*beside)(void (*progress)(void));
    /* A name for a team of so many members, the first of which is this rank; another one each time. Its first word is the team for
       the other functions. Ends by `close`, if the team is opened or not. */
    int (*name)(size_t members, uint64_t name[WEFT_COLL_NAME]);
    /* Opens a team by the name that its first member has given it. */
    int (*open)(const uint64_t name[WEFT_COLL_NAME], const uint32_t *ranks, size_t members);
    /* Closes a team, none of whose operations is under way here. */
    int (*close)(uint64_t team);
    /* Carries out an operation. Returns when its member has what it is to have and its buffers are the program's again; others may
       still be at it. */
    int (*run)(uint64_t team, const struct weft_coll_call *call);
    /* Starts an operation, and reads all of the call but buffers before it returns. Whoever reads completions has the operation go on;
       `ended` is called from there, or from here, outside of all locks of the provider's, in whatever thread. `combine` is called
       inside of them: it calls nothing of the provider's or of the MPI library's. Several may be under way, and end in any order. */
    int (*start)(uint64_t team, const struct weft_coll_call *call, weft_coll_ended *ended, void *context);
};

/* The functions; NULL if the library has another version of them. */
const struct weft_coll *weft_coll_table(uint32_t version);

#endif

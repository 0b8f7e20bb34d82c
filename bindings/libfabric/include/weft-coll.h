/* Collective operations of libweft-fi.so, for libraries between a program and its MPI library.

   A team is some ranks of the job, its members, who all open it by the same name and in the same order. All of them call the same
   operations of it in the same order, each in one thread at a time; different teams are independent. A call returns when
   its member has what it is to have and its buffers are the program's again; others may still be at it. Functions return 0
   or a negative errno:

     -EHOSTUNREACH  this process has no part in a job: its MPI library does not use the provider
     -ENOENT        no such team
     -EINVAL        arguments that cannot be, or a team that another thread uses
     -EIO           the job cannot go on; standard error says why
*/
#ifndef WEFT_COLL_H
#define WEFT_COLL_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_COLL_VERSION 2
/* Words of the name of a team. */
#define WEFT_COLL_NAME 2

/* Makes of `count` elements `before` and as many behind them in the order of members what both give, in place of `after`. */
typedef void weft_coll_combine(const void *before, void *after, size_t count, void *context);

/* Place of the bytes for one member, or of one. */
struct weft_coll_part {
    size_t at, bytes;
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
    int (*close)(uint64_t team);
    int (*barrier)(uint64_t team);
    /* The bytes of member `root` to all. */
    int (*broadcast)(uint64_t team, size_t root, void *buffer, size_t bytes);
    /* `bytes` of each member to all, in the order of members. `mine` may be where it belongs. */
    int (*all_gather)(uint64_t team, const void *mine, size_t bytes, void *all);
    /* `count` elements of `size` bytes of all members, combined in the order of members: the same bits at all members and in
       every run. To `root`, the only one that needs room in `into`, or to all. `into` may be `mine`. */
    int (*reduce)(uint64_t team, size_t root, const void *mine, void *into, size_t count, size_t size,
                  weft_coll_combine *combine, void *context);
    int (*all_reduce)(uint64_t team, const void *mine, void *into, size_t count, size_t size,
                      weft_coll_combine *combine, void *context);
    /* `bytes` of each member to `root`, the only one that needs room in `all`, in the order of members; or of what `root` has in
       `all` as many to each. What is the root's own may be where it belongs. */
    int (*gather)(uint64_t team, size_t root, const void *mine, size_t bytes, void *all);
    int (*scatter)(uint64_t team, size_t root, const void *all, size_t bytes, void *mine);
    /* `bytes` of each member for each. `into` is other memory than `mine`. */
    int (*all_to_all)(uint64_t team, const void *mine, size_t bytes, void *into);
    /* As `reduce`: to each member those of the members up to it, or of those before it, of which member 0 gets none. */
    int (*scan)(uint64_t team, int is_exclusive, const void *mine, void *into, size_t count, size_t size,
                weft_coll_combine *combine, void *context);
    /* As `all_reduce`, of `count` elements for each member: to each those for it. `into` may be where `mine` begins. */
    int (*reduce_scatter)(uint64_t team, const void *mine, void *into, size_t count, size_t size,
                          weft_coll_combine *combine, void *context);
    /* The same of as many bytes as the member that gives them and the member that gets them say: one `rooms` or `parts` for each
       member. A gather or scatter reads them at its root only. */
    int (*gather_varied)(uint64_t team, size_t root, const void *mine, size_t bytes, void *all,
                         const struct weft_coll_part *rooms);
    int (*scatter_varied)(uint64_t team, size_t root, const void *all, const struct weft_coll_part *parts, void *mine,
                          size_t bytes);
    int (*all_gather_varied)(uint64_t team, const void *mine, size_t bytes, void *all, const struct weft_coll_part *rooms);
    int (*all_to_all_varied)(uint64_t team, const void *mine, const struct weft_coll_part *parts, void *into,
                             const struct weft_coll_part *rooms);
};

/* The functions, as they are in this version and later ones; NULL if the library is older. */
const struct weft_coll *weft_coll_table(uint32_t version);

#endif

// What an interface does with each frame before the kernel sees it: Weft's own go to the socket of the
// rank that they are for, those of strangers are dropped and counted, and everything else passes.
//
// Reads the layouts of wire/src/envelope.rs. No header of the kernel is needed to compile it.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))
// How a map's description is written down for the loader: as types.
#define NUMBER(name, value) int(*name)[value]
#define TYPE(name, value) value *name

enum { MAP_HASH = 1, MAP_PERCPU_ARRAY = 6, MAP_SOCKETS = 17 };
enum verdict { DROP = 1, PASS = 2 };

struct frame_context {
    u32 data;
    u32 data_end;
    u32 data_meta;
    u32 ingress_ifindex;
    u32 rx_queue_index;
    u32 egress_ifindex;
};

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const redirect_map)(void *map, u64 key, u64 flags) = (void *)51;

// The places of `counts`, as in src/program.rs.
enum { TAKEN, FOREIGN, STRANGER, OTHER_QUEUE, COUNTS };

struct destination {
    u32 job;
    u32 rank; // or PLACES | which of the ranks of this host
};

// What a frame says that is for several ranks, and where places begin, as in src/program.rs.
enum { EVERYBODY = 0xffff, PLACES = 0x10000 };

// Which socket is for which rank of which job.
struct {
    NUMBER(type, MAP_HASH);
    NUMBER(max_entries, 2048);
    TYPE(key, struct destination);
    TYPE(value, u32);
} ranks SECTION(".maps");

struct {
    NUMBER(type, MAP_SOCKETS);
    NUMBER(max_entries, 1024);
    TYPE(key, u32);
    TYPE(value, u32);
} sockets SECTION(".maps");

struct {
    NUMBER(type, MAP_PERCPU_ARRAY);
    NUMBER(max_entries, COUNTS);
    TYPE(key, u32);
    TYPE(value, u64);
} counts SECTION(".maps");

// Set by the loader: Weft's protocol number in the order of the network, and the queue of the sockets.
const volatile u16 ethertype = 0;
const volatile u32 queue = 0;

struct ethernet {
    u8 destination[6];
    u8 source[6];
    u16 type;
} __attribute__((packed));

struct vlan {
    u16 tag;
    u16 type;
} __attribute__((packed));

struct envelope {
    u8 magic[2];
    u8 version;
    u8 kind;
    u32 job;
    u16 source;
    u16 destination;
    u32 length;
    u64 sequence;
    u64 tag;
} __attribute__((packed));

#define VLAN_TYPE __builtin_bswap16(0x8100)
#define VERSION 2

static __attribute__((always_inline)) void count(u32 what)
{
    u64 *number = map_lookup(&counts, &what);
    if (number)
        *number += 1; // each processor has its own
}

static __attribute__((always_inline)) int drop(u32 why)
{
    count(why);
    return DROP;
}

// What the network copies goes to a group, whose address says which of the ranks here gets it.
static __attribute__((always_inline)) u32 rank_of(struct ethernet *ethernet, struct envelope *envelope)
{
    u8 *group = ethernet->destination;
    if (envelope->destination != EVERYBODY || !(group[0] & 1))
        return envelope->destination;
    return PLACES | group[4] << 8 | group[5];
}

SECTION("xdp")
int weft(struct frame_context *context)
{
    void *at = (void *)(u64)context->data;
    void *end = (void *)(u64)context->data_end;
    struct ethernet *ethernet = at;
    if (at + sizeof(*ethernet) > end)
        return PASS;
    at += sizeof(*ethernet);
    u16 type = ethernet->type;
    if (type == VLAN_TYPE) {
        struct vlan *vlan = at;
        if (at + sizeof(*vlan) > end)
            return PASS;
        at += sizeof(*vlan);
        type = vlan->type;
    }
    if (type != ethertype)
        return PASS;
    struct envelope *envelope = at;
    if (at + sizeof(*envelope) > end)
        return drop(FOREIGN);
    if (envelope->magic[0] != 'W' || envelope->magic[1] != 'F' || envelope->version != VERSION)
        return drop(FOREIGN);
    struct destination key = { .job = envelope->job, .rank = rank_of(ethernet, envelope) };
    u32 *slot = map_lookup(&ranks, &key);
    if (!slot)
        return drop(STRANGER);
    if (context->rx_queue_index != queue)
        return drop(OTHER_QUEUE);
    count(TAKEN);
    return redirect_map(&sockets, *slot, DROP);
}

char _license[] SECTION("license") = "Dual MIT/GPL";

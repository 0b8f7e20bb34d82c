/* One call, for coll.c: from its arguments to its end, waited for or started.

   A function for each collective finds out whether a call is served, and describes it: an operation, elements that it gives and takes
   in one piece, and what is to be done once it has ended. MPI_Bcast has it carried out then, and MPI_Ibcast started: the provider has
   it go on wherever the MPI library reads completions, and a generalized request ends there. What came is unpacked by whoever
   is told of the end first, in a call of the program's. */
#ifndef WEFT_OPERATIONS_H
#define WEFT_OPERATIONS_H

/* How elements are combined. */
struct combining {
    MPI_Datatype type;
    MPI_Op op;
};

/* Elements in one piece: where they are, or a copy. */
struct piece {
    void *bytes, *buffer;
    int count;
    MPI_Datatype type;
    struct shape shape;
};

struct operation {
    struct team *team;
    MPI_Comm comm;
    struct weft_coll_call call;
    struct combining how;
    struct piece given, taken;
    struct parts parts, rooms;
    /* Of one that was started. */
    MPI_Request request;
    int has_ended;
};

/* Begins to describe a call that is served. */
static void serve(struct operation *op, enum call call, enum weft_coll_operation operation, struct team *team, MPI_Comm comm)
{
    __atomic_fetch_add(&served[call], 1, __ATOMIC_RELAXED);
    op->team = team;
    op->comm = comm;
    op->call = (struct weft_coll_call){.operation = operation, .size = 1};
    /* Of the others nothing is read then. */
    op->given.bytes = op->given.buffer = op->taken.bytes = op->taken.buffer = NULL;
    op->parts.places = op->rooms.places = NULL;
    op->has_ended = 0;
}

static void with_bytes(struct operation *op, int root, size_t bytes)
{
    op->call.root = (size_t)root;
    op->call.count = bytes;
}

/* Describes elements that this rank gives, and room for those that it takes. */
static void give(struct operation *op, const void *buffer, int count, MPI_Datatype type, const struct shape *shape)
{
    op->given = (struct piece){packed(buffer, count, type, shape, op->comm), (void *)buffer, count, type, *shape};
    op->call.mine = op->given.bytes;
}

static void take(struct operation *op, void *buffer, int count, MPI_Datatype type, const struct shape *shape)
{
    op->taken = (struct piece){room(buffer, shape, op->comm), buffer, count, type, *shape};
    op->call.into = op->taken.bytes;
}

/* Whether no rank has anything to wait for. */
static int is_nothing(const struct operation *op)
{
    return op->call.count == 0 && op->call.operation != WEFT_COLL_BARRIER && op->call.operation < WEFT_COLL_GATHER_VARIED;
}

/* Puts what came where it belongs, and frees copies. */
static void end_operation(struct operation *op, int has_come)
{
    struct piece *taken = &op->taken;
    if (has_come && taken->bytes != taken->buffer)
        unpack(taken->bytes, taken->buffer, taken->count, taken->type, &taken->shape, op->comm);
    if (has_come && op->rooms.places)
        spread_parts(&op->rooms, op->comm);
    release(taken->bytes, taken->buffer);
    release(op->given.bytes, op->given.buffer);
    if (op->parts.places)
        end_parts(&op->parts);
    if (op->rooms.places)
        end_parts(&op->rooms);
}

/* Carries an operation out. */
static int carry_out(struct operation *op)
{
    int error = is_nothing(op) ? 0 : weft->run(op->team->name, &op->call);
    end_operation(op, !error);
    return outcome(op->comm, error);
}

/* The program may free types and the communicator before a started operation has ended, and its elements are unpacked. */
static void keep_type(struct operation *op, MPI_Datatype *type, const struct shape *shape)
{
    if (shape->whole)
        return;
    PMPI_Type_dup(*type, type);
    if (has_world())
        op->comm = MPI_COMM_WORLD;
}

static void free_type(MPI_Datatype *type, const struct shape *shape)
{
    if (!shape->whole)
        PMPI_Type_free(type);
}

/* An operation has ended, as the program hears of it. */
static void see_end(struct operation *op)
{
    if (op->has_ended)
        return;
    op->has_ended = 1;
    struct piece taken = op->taken;
    struct parts rooms = op->rooms;
    end_operation(op, 1);
    if (taken.buffer)
        free_type(&taken.type, &taken.shape);
    if (rooms.places)
        free_type(&rooms.type, &rooms.element);
}

/* Functions of generalized requests. */
static int query_request(void *state, MPI_Status *status)
{
    see_end(state);
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int free_request(void *state)
{
    struct operation *op = state;
    see_end(op);
    let_go(op->team);
    free(op);
    return MPI_SUCCESS;
}

/* Collectives cannot be cancelled. */
static int cancel_request(void *state, int is_complete)
{
    (void)state, (void)is_complete;
    return MPI_SUCCESS;
}

/* Tells the MPI library, from where it reads completions, that an operation has ended. */
static void complete_request(void *state)
{
    struct operation *op = state;
    PMPI_Grequest_complete(op->request);
}

/* Starts an operation, and makes a request that ends with it. */
static int start(const struct operation *described, MPI_Request *request)
{
    struct operation *op = malloc(sizeof *op);
    MPI_Comm comm = described->comm;
    if (!op)
        return PMPI_Abort(comm, 1);
    *op = *described;
    op->call.context = &op->how;
    if (op->taken.buffer)
        keep_type(op, &op->taken.type, &op->taken.shape);
    if (op->rooms.places)
        keep_type(op, &op->rooms.type, &op->rooms.element);
    __atomic_fetch_add(&op->team->users, 1, __ATOMIC_RELAXED);
    int error = PMPI_Grequest_start(query_request, free_request, cancel_request, op, &op->request);
    if (error != MPI_SUCCESS)
        return error;
    *request = op->request;
    if (!is_nothing(op))
        return outcome(comm, weft->start(op->team->name, &op->call, complete_request, op));
    return PMPI_Grequest_complete(op->request);
}

/* A collective, blocking and not. */
#define LIST(...) __VA_ARGS__
#define SERVED(Name, lower, CALL, parameters, arguments)                                                                       \
    EXPORTED int MPI_##Name(LIST parameters)                                                                                   \
    {                                                                                                                          \
        struct operation op;                                                                                                   \
        return lower(&op, CALL, LIST arguments) ? carry_out(&op) : PMPI_##Name(LIST arguments);                                \
    }                                                                                                                          \
    EXPORTED int MPI_I##lower(LIST parameters, MPI_Request *request)                                                           \
    {                                                                                                                          \
        struct operation op;                                                                                                   \
        return lower(&op, I##CALL, LIST arguments) ? start(&op, request) : PMPI_I##lower(LIST arguments, request);             \
    }

#endif

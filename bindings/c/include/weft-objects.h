// Shared objects (thesis 7.1) and Linda for C programs. Made from bindings/c/src by
// `cargo run -p xtask -- header`. What weft.h says of functions and pointers holds here too; the pages
// weft_object(3) and weft_space(3) have more.

#ifndef WEFT_OBJECTS_H
#define WEFT_OBJECTS_H

#include "weft.h"

// Placement of an object with a copy at every rank. Any other is the rank of the only copy.
#define WEFT_REPLICATED UINT32_MAX

// Placement that follows from who operates on the object: one copy, at first at the rank that
// creates it, then where the operations cost least, by statistics.
#define WEFT_AUTOMATIC (UINT32_MAX - 1)

// End of an attempt to execute an operation.
typedef enum {
    // It was executed.
    WEFT_OUTCOME_DONE = 0,
    // Its guards are all false. Nothing was changed; its caller waits.
    WEFT_OUTCOME_BLOCKED,
    // The bytes are no arguments of it. Nothing was changed; whoever invoked it gets WEFT_INVALID.
    WEFT_OUTCOME_MALFORMED,
} weft_outcome;

// Type of a field.
typedef enum {
    // Its i64, a number with a sign.
    WEFT_FIELD_I64 = 1,
    // Its u64, a number without.
    WEFT_FIELD_U64,
    // Its f64.
    WEFT_FIELD_F64,
    // Its u64, false if that is 0.
    WEFT_FIELD_BOOL,
    // Its u64, the number of a character of Unicode.
    WEFT_FIELD_CHAR,
    // Its bytes, UTF-8 without a zero behind.
    WEFT_FIELD_TEXT,
    // Its bytes.
    WEFT_FIELD_BYTES,
} weft_field_kind;

// An active tuple, which a thread of this rank computes. One thread at a time uses it.
typedef struct weft_active weft_active;

// Result of an operation. Any thread may use it, several at once.
typedef struct weft_answer weft_answer;

// An operation that was begun. One thread at a time uses it.
typedef struct weft_invocation weft_invocation;

// A shared object, as this rank sees it. Any thread may use it, several at once.
typedef struct weft_object weft_object;

// Bytes that code of a type gives: the result of an operation, or the state of an instance. The
// code's until it returns.
typedef struct weft_result weft_result;

// The objects of a job, as this rank sees them. Any thread may use them, several at once.
typedef struct weft_objects weft_objects;

// A space of tuples, as this rank sees it. Any thread may use it, several at once.
typedef struct weft_space weft_space;

// A tuple that was found. Any thread may use it, several at once.
typedef struct weft_tuple weft_tuple;

// Fields that code gives, one after the other. The code's until it returns.
typedef struct weft_fields weft_fields;

// Code that looks at an instance, for an operation that reads; false if its guard is false.
typedef bool (*weft_object_look)(const void *instance, void *user);

// Code that changes an instance, for an operation that writes; false if its guard is false, and
// nothing was changed.
typedef bool (*weft_object_change)(void *instance, void *user);

// Code that computes a tuple, on a thread of its own: it gives the fields by weft_fields_add(),
// and may use the space.
typedef void (*weft_tuple_code)(weft_fields *fields, void *user);

// Field of a tuple or part of a template. Of the values, that of its kind counts, and of a formal
// none.
typedef struct {
    // Its type, one of weft_field_kind.
    weft_field_kind kind;
    // True for a part of a template that matches any value of its type.
    bool is_formal;
    // Number with a sign.
    int64_t i64;
    // Number without, truth value, or character.
    uint64_t u64;
    // Floating-point number.
    double f64;
    // First byte of a text, or of bytes.
    const void *bytes;
    // Number of bytes.
    size_t length;
} weft_field;

// Code of an operation that reads an instance. Its arguments lie together, length bytes from an
// address that is a multiple of 8, never null, until it returns. It appends its result to result.
typedef weft_outcome (*weft_read_code)(const void *instance,
                                       const void *arguments,
                                       size_t length,
                                       weft_result *result);

// Code of an operation that may change an instance; else as weft_read_code. On all copies it has
// to come to the same: it depends on the instance and its arguments, and on nothing else.
typedef weft_outcome (*weft_write_code)(void *instance,
                                        const void *arguments,
                                        size_t length,
                                        weft_result *result);

// Operation of a type; its number is its place among them.
typedef struct {
    // Its name, for people.
    const char *name;
    // Code that reads, or null. If there is code of both kinds these are alternatives, and this
    // one is tried first, on the copy here.
    weft_read_code read;
    // Code that may write, or null if all of it reads.
    weft_write_code write;
} weft_object_operation;

// Code that makes an instance with a state, length bytes from an address that is a multiple of 8,
// never null; null if they are no state. It is called for each copy, and to check a state.
typedef void *(*weft_restore_code)(const void *state, size_t length);

// Code that gives the state of an instance, from which another one like it can be made.
typedef void (*weft_capture_code)(const void *instance, weft_result *state);

// Code that frees an instance.
typedef void (*weft_destroy_code)(void *instance);

// A type of objects. Its code is called by any thread, for one instance by one at a time, and
// calls nothing of Weft but weft_result_extend(). Nothing in it may be null.
typedef struct {
    // Its name, by which ranks agree on it.
    const char *name;
    // Its operations, by number.
    const weft_object_operation *operations;
    // Number of operations.
    size_t operation_count;
    // Makes an instance.
    weft_restore_code restore;
    // Gives its state.
    weft_capture_code capture;
    // Frees it.
    weft_destroy_code destroy;
} weft_object_type;

// Code of a process. It runs on a thread of its own, with the objects of its rank, which are its
// own until it returns, and arguments: length bytes from an address that is a multiple of 8, never
// null, until it returns.
typedef void (*weft_process_code)(const weft_objects *objects,
                                  const void *arguments,
                                  size_t length,
                                  void *user);

// A process type. Nothing in it may be null but user.
typedef struct {
    // Its name, by which ranks agree on it.
    const char *name;
    // Its code.
    weft_process_code code;
    // Pointer that is handed to the code.
    void *user;
} weft_process_type;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Appends so many bytes, which are 0, and returns where they begin, to be filled before the next
// call with this result. Null if there is no room for them: then the code is to return, and its
// object is broken. Never blocks.
void *weft_result_extend(weft_result *result, size_t length);

// Starts a process of that type on a rank, with arguments of length bytes. Returns when this rank
// knows of it; it may not have begun. Blocks; callbacks run meanwhile. Not to be called in a
// callback.
weft_status weft_object_fork(const weft_objects *objects,
                             const char *process,
                             uint32_t on,
                             const void *arguments,
                             size_t length);

// Runs a program: rank 0 forks a process of type main on itself. All ranks call it, and it returns
// when no process is left anywhere. If one has failed it is WEFT_ABANDONED, and so is, meanwhile,
// what waits for guards; both are WEFT_WAITS_FOR_ITSELF if all processes wait for guards. Blocks;
// callbacks run meanwhile.
weft_status weft_objects_run(const weft_objects *objects,
                             const char *main,
                             const void *arguments,
                             size_t length);

// Has the process that was given these objects fail when its code returns, which is to be soon:
// the program ends with this text. The first text counts. Never blocks.
weft_status weft_process_fail(const weft_objects *objects, const char *text);

// Takes part in the objects of a job, of these types, with processes of those, which may be none.
// All ranks do, at the same place among the orders that they create, with the same types. What
// types and processes point to is copied; their code must stay. The result is the caller's, to be
// given back to weft_objects_destroy(). Never blocks. Only in a job for messages.
weft_status weft_objects_create(const weft_job *job,
                                const weft_object_type *types,
                                size_t type_count,
                                const weft_process_type *processes,
                                size_t process_count,
                                weft_objects **objects);

// Ends this rank's part in the objects and frees it, with the copies here; all ranks must be done
// with them. While objects, invocations or spaces were not given back it is WEFT_INVALID, and
// frees nothing. Not to be called in a callback.
weft_status weft_objects_destroy(weft_objects *objects);

// Creates an object of a name and a type, with a state of length bytes, and returns once this rank
// knows it. One rank creates it; others find it. Placement is the rank that is to have the only
// copy, WEFT_REPLICATED or WEFT_AUTOMATIC. The object is the caller's, to be given back to
// weft_object_destroy(). Blocks; callbacks run meanwhile.
weft_status weft_object_create(const weft_objects *objects,
                               const char *name,
                               const char *of,
                               const void *state,
                               size_t length,
                               uint32_t placement,
                               weft_object **object);

// Creates an object as weft_object_create() does, whose name is for people: it need not be its
// alone, and cannot be found. Others get it by its number.
weft_status weft_object_create_unnamed(const weft_objects *objects,
                                       const char *name,
                                       const char *of,
                                       const void *state,
                                       size_t length,
                                       uint32_t placement,
                                       weft_object **object);

// The object with a number, which has to be of that type. The number comes from whoever has the
// object: as an argument of a process or an operation, or as a result. The object is the caller's,
// to be given back to weft_object_destroy(). Never blocks.
weft_status weft_object_get(const weft_objects *objects,
                            uint64_t number,
                            const char *of,
                            weft_object **object);

// Number of an object, the same at all ranks. Never blocks.
weft_status weft_object_number(const weft_object *object, uint64_t *number);

// The object of a name, which has to be of that type. It is the caller's, to be given back to
// weft_object_destroy(). Blocks until some rank has created it; callbacks run meanwhile.
weft_status weft_object_find(const weft_objects *objects,
                             const char *name,
                             const char *of,
                             weft_object **object);

// Gives an object back; the object itself stays, for all ranks. Never blocks.
weft_status weft_object_destroy(weft_object *object);

// Deletes an object for all ranks, and gives it back, even when it fails. Operations that come
// after that, or wait for a guard then, are WEFT_NO_OBJECT at all ranks; its name may be used
// again. So is this if another has deleted it. Blocks until this rank has executed it; callbacks
// run meanwhile. Not to be called in a callback.
weft_status weft_object_delete(weft_object *object);

// Placement of an object, as far as this rank knows: the rank of its only copy, or
// WEFT_REPLICATED. Never blocks.
weft_status weft_object_placement(const weft_object *object, uint32_t *placement);

// Has an object be at another placement from now on, while others operate on it. Returns when this
// rank knows of that; the only copy may be on its way, and who operates on it waits. Blocks;
// callbacks run meanwhile. Not to be called in a callback.
weft_status weft_object_place(const weft_object *object, uint32_t placement);

// Executes an operation, with arguments in count pieces, and gives its result if answer is not
// null; it is the caller's, to be freed with weft_answer_free(). Blocks while its guards are
// false; callbacks run meanwhile. Not to be called in a callback.
weft_status weft_object_invoke(const weft_object *object,
                               uint16_t operation,
                               const weft_iov *pieces,
                               size_t count,
                               weft_answer **answer);

// Begins what weft_object_invoke() does, and returns when its arguments are in packets. Those that
// a thread has begun and not waited for are executed in any order. The invocation is the caller's,
// who ends it by waiting. Blocks as weft_port_send() does.
weft_status weft_object_begin(const weft_object *object,
                              uint16_t operation,
                              const weft_iov *pieces,
                              size_t count,
                              weft_invocation **invocation);

// Waits for the result of an operation that was begun, gives it if answer is not null, and frees
// the invocation, even when it fails. Blocks as weft_object_invoke() does.
weft_status weft_invocation_wait(weft_invocation *invocation, weft_answer **answer);

// The bytes of a result, from an address that is a multiple of 8, valid until it is freed. Never
// blocks.
weft_status weft_answer_bytes(const weft_answer *answer, const void **bytes, size_t *length);

// Frees the result of an operation. Never blocks.
weft_status weft_answer_free(weft_answer *answer);

// Has look read the copy here, for an operation that reads, and tells if it was executed: if not,
// because there is no copy here or look returned false, weft_object_invoke() executes it. The
// fast way: nothing is written down nor sent. Waits only for operations on this copy.
weft_status weft_object_read_here(const weft_object *object,
                                  uint16_t operation,
                                  weft_object_look look,
                                  void *user,
                                  bool *done);

// Has change write the only copy, for an operation that writes, if that is here, and tells if it
// was executed: if not, because there are other copies, it is elsewhere, or change returned false,
// weft_object_invoke() executes it. Else as weft_object_read_here().
weft_status weft_object_write_here(const weft_object *object,
                                   uint16_t operation,
                                   weft_object_change change,
                                   void *user,
                                   bool *done);

// Creates the space of a name. All ranks do, with the same name, and each has a part of it. The
// space is the caller's, to be given back to weft_space_destroy(). Blocks until all have;
// callbacks run meanwhile.
weft_status weft_space_create(const weft_objects *objects, const char *name, weft_space **space);

// Gives a space back. Its tuples stay as long as the objects. Never blocks.
weft_status weft_space_destroy(weft_space *space);

// Puts a tuple of count fields, at most 255. It is there when this returns, and whoever waited for
// it goes on. Blocks for a round trip or two; callbacks run meanwhile. Not to be called in a
// callback, nor are the four below.
weft_status weft_space_out(const weft_space *space, const weft_field *tuple, size_t count);

// Takes a tuple that matches a template of count parts out of the space, and gives it if tuple is
// not null; it is the caller's, to be freed with weft_tuple_free(). A tuple matches if it has as
// many fields, of the same types, and those equal to all parts that are no formals. Blocks until
// there is one; callbacks run meanwhile.
weft_status weft_space_in(const weft_space *space,
                          const weft_field *template_,
                          size_t count,
                          weft_tuple **tuple);

// Gives a copy of a tuple that matches, which stays in the space; else as weft_space_in().
weft_status weft_space_rd(const weft_space *space,
                          const weft_field *template_,
                          size_t count,
                          weft_tuple **tuple);

// Takes a tuple that matches, as weft_space_in() does, or gives null if there is none: then there
// was a moment, during the call, without one at any rank. Blocks for a round trip or more.
weft_status weft_space_inp(const weft_space *space,
                           const weft_field *template_,
                           size_t count,
                           weft_tuple **tuple);

// Gives a copy of a tuple that matches, which stays in the space; else as weft_space_inp().
weft_status weft_space_rdp(const weft_space *space,
                           const weft_field *template_,
                           size_t count,
                           weft_tuple **tuple);

// Has code compute a tuple, on a thread of this rank, and puts it when the code returns. The
// active tuple is the caller's, who ends it by weft_active_wait(). Never blocks.
weft_status weft_space_eval(const weft_space *space,
                            weft_tuple_code code,
                            void *user,
                            weft_active **active);

// Adds count fields to the tuple that code computes; what they point to is copied. If it fails
// there will be no tuple. Never blocks.
weft_status weft_fields_add(weft_fields *fields, const weft_field *more, size_t count);

// Waits until an active tuple is in the space, and frees it, even when it fails. Blocks; callbacks
// run on other threads only.
weft_status weft_active_wait(weft_active *active);

// Fields of a tuple that was found; none is formal. They, and what they point to, are valid until
// it is freed. Never blocks.
weft_status weft_tuple_fields(const weft_tuple *tuple, const weft_field **fields, size_t *count);

// Frees a tuple that was found. Never blocks.
weft_status weft_tuple_free(weft_tuple *tuple);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WEFT_OBJECTS_H */

//! Corrections of Open MPI 4, for ranks that load this library before their MPI library, as `weft
//! mpirun` has them do (`LD_PRELOAD`).
//!
//! Below its `pml cm`, by which it uses libfabric, Open MPI 4 takes the bytes of a persistent send
//! from where its buffer begins, if the elements lie in one piece, although the first of them may
//! lie elsewhere (open-mpi/ompi#11751). Linear algorithms of all-to-all make persistent sends. Here
//! such elements are described anew, by a type that begins where the bytes do; that is right
//! whether the library has the fault or not. Of `MPI_Alltoallw`, whose displacements are too short
//! for that, the library's other form is taken, which makes no persistent sends.
//!
//! Each function stands under its two names, because Fortran's bindings call the second one. The
//! types are those of Open MPI's ABI, in which handles are pointers.
#![allow(unsafe_code)] // Functions that C calls, and that are found by name.
#![allow(non_snake_case)] // MPI's names.

use std::ffi::{CStr, c_int, c_void};

/// A communicator, a type or a request.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Handle(*mut c_void);

/// `MPI_Aint`.
type Address = isize;

const SUCCESS: c_int = 0;
/// `MPI_ERR_OTHER`.
const OTHER: c_int = 16;
/// `MPI_IN_PLACE`.
const IN_PLACE: usize = 1;
/// `MPI_CART`, `MPI_GRAPH` and `MPI_DIST_GRAPH`.
const CARTESIAN: c_int = 1;
const GRAPH: c_int = 2;
const DISTRIBUTED: c_int = 3;

type Extent = unsafe extern "C" fn(Handle, *mut Address, *mut Address) -> c_int;
type Hindexed =
    unsafe extern "C" fn(c_int, *const c_int, *const Address, Handle, *mut Handle) -> c_int;
type Resized = unsafe extern "C" fn(Handle, Address, Address, *mut Handle) -> c_int;
type OnHandle = unsafe extern "C" fn(*mut Handle) -> c_int;
type SendInit =
    unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
type Alltoall =
    unsafe extern "C" fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle) -> c_int;
type Alltoallv = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const c_int,
    Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    Handle,
    Handle,
) -> c_int;
type Ialltoallw = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const c_int,
    *const Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    *const Handle,
    Handle,
    *mut Handle,
) -> c_int;
type Ask = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type AskOfRank = unsafe extern "C" fn(Handle, c_int, *mut c_int) -> c_int;
type AskOfBoth = unsafe extern "C" fn(Handle, *mut c_int, *mut c_int, *mut c_int) -> c_int;
type Wait = unsafe extern "C" fn(*mut Handle, *mut c_void) -> c_int;

/// The MPI library's own function of this name; `None` if there is no MPI library.
///
/// # Safety
/// `F` is the type of a pointer to this function in Open MPI.
unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    // SAFETY: it is the function, and the caller vouches for its type.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

/// A buffer and the type of its elements, of which the first begins where the buffer does.
struct Elements {
    buffer: *const c_void,
    kind: Handle,
    /// True if the type was made here.
    is_made: bool,
}

impl Elements {
    /// Those of this buffer and type, described anew if the first of them lies elsewhere. What
    /// cannot be described stays as it is, for the MPI library to say what is wrong with it.
    fn of(buffer: *const c_void, kind: Handle) -> Self {
        let made = if buffer.addr() == IN_PLACE { None } else { shifted(kind) };
        match made {
            Some((kind, by)) => {
                Elements { buffer: buffer.wrapping_byte_offset(by), kind, is_made: true }
            }
            None => Elements { buffer, kind, is_made: false },
        }
    }
}

impl Drop for Elements {
    fn drop(&mut self) {
        if self.is_made {
            free(self.kind);
        }
    }
}

fn free(mut kind: Handle) {
    // SAFETY: `MPI_Type_free` of a type that was made here, once; what uses it still keeps it.
    unsafe {
        if let Some(free) = next::<OnHandle>(c"PMPI_Type_free") {
            free(&raw mut kind);
        }
    }
}

/// A type whose bytes lie so much nearer to its beginning that the first is there, and how much
/// that is; `None` if the first is there already.
fn shifted(kind: Handle) -> Option<(Handle, Address)> {
    let (mut lower, mut extent, mut first, mut true_extent) = (0, 0, 0, 0);
    let (mut nearer, mut made) = (kind, kind);
    // SAFETY: these are the types of these functions; all pointers are to variables of these
    // types, and `kind` is what the program has given to a function that takes a type. What is not
    // one the library refuses.
    unsafe {
        let true_extent_of = next::<Extent>(c"PMPI_Type_get_true_extent")?;
        if true_extent_of(kind, &raw mut first, &raw mut true_extent) != SUCCESS || first == 0 {
            return None;
        }
        let extent_of = next::<Extent>(c"PMPI_Type_get_extent")?;
        let hindexed = next::<Hindexed>(c"PMPI_Type_create_hindexed")?;
        let resized = next::<Resized>(c"PMPI_Type_create_resized")?;
        let commit = next::<OnHandle>(c"PMPI_Type_commit")?;
        if extent_of(kind, &raw mut lower, &raw mut extent) != SUCCESS
            || hindexed(1, &1, &first.wrapping_neg(), kind, &raw mut nearer) != SUCCESS
        {
            return None;
        }
        let is_made = resized(nearer, lower.wrapping_sub(first), extent, &raw mut made) == SUCCESS;
        free(nearer);
        (is_made && commit(&raw mut made) == SUCCESS).then_some((made, first))
    }
}

/// Functions of MPI, each under both of its names.
macro_rules! functions {
    ($($name:ident $other:ident ($($argument:ident: $type:ty),*) $body:block)*) => { $(
        /// The function of MPI of this name.
        ///
        /// # Safety
        /// As MPI says of it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int $body

        /// Its other name, which Fortran's bindings use.
        ///
        /// # Safety
        /// As MPI says of it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $other($($argument: $type),*) -> c_int {
            // SAFETY: as the caller vouches.
            unsafe { $name($($argument),*) }
        }
    )* };
}

/// The most neighbours that a communicator's topology gives this rank, in or out; 0 without one.
///
/// # Safety
/// It is a communicator.
unsafe fn neighbours(comm: Handle) -> Option<usize> {
    let (mut topology, mut one, mut other, mut is_weighted) = (0, 0, 0, 0);
    // SAFETY: these are the functions' types, and all that they write to is here.
    unsafe {
        let succeeds = |status| (status == SUCCESS).then_some(());
        succeeds(next::<Ask>(c"PMPI_Topo_test")?(comm, &raw mut topology))?;
        match topology {
            CARTESIAN => {
                succeeds(next::<Ask>(c"PMPI_Cartdim_get")?(comm, &raw mut one))?;
                one *= 2;
            }
            GRAPH => {
                let mut rank = 0;
                succeeds(next::<Ask>(c"PMPI_Comm_rank")?(comm, &raw mut rank))?;
                let count = next::<AskOfRank>(c"PMPI_Graph_neighbors_count")?;
                succeeds(count(comm, rank, &raw mut one))?;
            }
            DISTRIBUTED => {
                let count = next::<AskOfBoth>(c"PMPI_Dist_graph_neighbors_count")?;
                succeeds(count(comm, &raw mut one, &raw mut other, &raw mut is_weighted))?;
            }
            _ => {}
        }
    }
    usize::try_from(one.max(other)).ok()
}

/// The types of an exchange with all ranks of a communicator that gives this one more neighbours
/// than it has ranks, so many that there is one for each neighbour; `None` if there are enough.
///
/// # Safety
/// There is a type for each rank, unless it is null.
unsafe fn lengthened(kinds: *const Handle, comm: Handle) -> Option<Vec<Handle>> {
    let mut ranks = 0;
    // SAFETY: as the caller vouches; the number is here.
    unsafe {
        let neighbours = neighbours(comm).filter(|_| !kinds.is_null())?;
        if next::<Ask>(c"PMPI_Comm_size")?(comm, &raw mut ranks) != SUCCESS {
            return None;
        }
        let ranks = usize::try_from(ranks).ok().filter(|ranks| *ranks < neighbours)?;
        let mut kinds = std::slice::from_raw_parts(kinds, ranks).to_vec();
        kinds.resize(neighbours, *kinds.first()?);
        Some(kinds)
    }
}

/// Makes a persistent send by the library's function of this name.
///
/// # Safety
/// As MPI says of that function, which is one of those that make such.
unsafe fn send_init(
    name: &CStr,
    (buffer, count, kind): (*const c_void, c_int, Handle),
    (to, tag, comm): (c_int, c_int, Handle),
    request: *mut Handle,
) -> c_int {
    let own = Elements::of(buffer, kind);
    // SAFETY: this is the function's type, and these are its caller's arguments, but for another
    // description of the same bytes.
    unsafe {
        let init = next::<SendInit>(name);
        init.map_or(OTHER, |init| init(own.buffer, count, own.kind, to, tag, comm, request))
    }
}

functions! {
    MPI_Send_init PMPI_Send_init (
        from: *const c_void, count: c_int, kind: Handle,
        to: c_int, tag: c_int, comm: Handle, request: *mut Handle
    ) {
        // SAFETY: as the caller vouches.
        unsafe { send_init(c"PMPI_Send_init", (from, count, kind), (to, tag, comm), request) }
    }

    MPI_Ssend_init PMPI_Ssend_init (
        from: *const c_void, count: c_int, kind: Handle,
        to: c_int, tag: c_int, comm: Handle, request: *mut Handle
    ) {
        // SAFETY: as the caller vouches.
        unsafe { send_init(c"PMPI_Ssend_init", (from, count, kind), (to, tag, comm), request) }
    }

    MPI_Rsend_init PMPI_Rsend_init (
        from: *const c_void, count: c_int, kind: Handle,
        to: c_int, tag: c_int, comm: Handle, request: *mut Handle
    ) {
        // SAFETY: as the caller vouches.
        unsafe { send_init(c"PMPI_Rsend_init", (from, count, kind), (to, tag, comm), request) }
    }

    MPI_Alltoall PMPI_Alltoall (
        from: *const c_void, count: c_int, kind: Handle,
        to: *mut c_void, to_count: c_int, to_kind: Handle, comm: Handle
    ) {
        let own = Elements::of(from, kind);
        // SAFETY: as in `send_init`.
        unsafe {
            let call = next::<Alltoall>(c"PMPI_Alltoall");
            call.map_or(OTHER, |call| {
                call(own.buffer, count, own.kind, to, to_count, to_kind, comm)
            })
        }
    }

    MPI_Alltoallv PMPI_Alltoallv (
        from: *const c_void, counts: *const c_int, at: *const c_int, kind: Handle,
        to: *mut c_void, to_counts: *const c_int, to_at: *const c_int, to_kind: Handle,
        comm: Handle
    ) {
        let own = Elements::of(from, kind);
        // SAFETY: as in `send_init`.
        unsafe {
            let call = next::<Alltoallv>(c"PMPI_Alltoallv");
            call.map_or(OTHER, |call| {
                call(own.buffer, counts, at, own.kind, to, to_counts, to_at, to_kind, comm)
            })
        }
    }

    // By its other form at all ranks, because the two do not meet. Where there is a topology, that
    // one keeps a type for each neighbour alive, however few types it was given.
    MPI_Alltoallw PMPI_Alltoallw (
        from: *const c_void, counts: *const c_int, at: *const c_int, kinds: *const Handle,
        to: *mut c_void, to_counts: *const c_int, to_at: *const c_int, to_kinds: *const Handle,
        comm: Handle
    ) {
        let mut request = Handle(std::ptr::null_mut());
        let request = &raw mut request;
        // SAFETY: these are the functions' types, and these are the caller's arguments, or more
        // types than those, which are there until the request has ended; it has before this
        // returns. A status that is null is of no interest to the caller.
        unsafe {
            let (Some(begin), Some(wait)) =
                (next::<Ialltoallw>(c"PMPI_Ialltoallw"), next::<Wait>(c"PMPI_Wait"))
            else {
                return OTHER;
            };
            let is_in_place = from.addr() == IN_PLACE;
            let own = if is_in_place { None } else { lengthened(kinds, comm) };
            let theirs = lengthened(to_kinds, comm);
            let kinds = own.as_ref().map_or(kinds, |own| own.as_ptr());
            let to_kinds = theirs.as_ref().map_or(to_kinds, |theirs| theirs.as_ptr());
            match begin(from, counts, at, kinds, to, to_counts, to_at, to_kinds, comm, request) {
                SUCCESS => wait(request, std::ptr::null_mut()),
                error => error,
            }
        }
    }
}

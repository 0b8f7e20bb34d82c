//! `struct fid_av`: address vectors.
//!
//! They may be inserted in any order. Of a map, the handle is the address itself; of a table, the
//! place in it. Those of another job reach nobody: MPI libraries insert such where processes meet
//! that were not started together.

use crate::abi::{ANYBODY, AV_TABLE, class};
use crate::address::Bytes;
use crate::entry::{Missing, call, sized, unsupported};
use crate::job::Job;
use crate::object::{Class, Fid, Given, give, object};
use crate::pointer::{Context, List, Out, Room};
use crate::refusal::{Refusal, Result};
use crate::slots::VectorId;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Once};
use weft_endpoint::Rank;
use weft_tagged::Address;

object! {
    /// The object.
    struct Vector {
        ops: &'static VectorOps,
        job: Arc<Job>,
        id: VectorId,
    }
}

/// `struct fi_av_attr`, as far as it is read.
#[repr(C)]
pub(crate) struct VectorAttr {
    kind: c_int,
    rx_ctx_bits: c_int,
    count: usize,
    ep_per_node: usize,
    name: *const c_char,
    map_addr: *mut c_void,
    flags: u64,
}

#[repr(C)]
struct VectorOps {
    size: usize,
    insert: extern "C" fn(&Vector, List<'_, Bytes>, usize, Room<u64>, u64, Room<c_int>) -> c_int,
    insertsvc: Missing,
    insertsym: Missing,
    remove: extern "C" fn(&Vector, List<'_, u64>, usize, u64) -> c_int,
    lookup: extern "C" fn(&Vector, u64, Room<u8>, Out<usize>) -> c_int,
    straddr: extern "C" fn(&Vector, Out<Bytes>, Room<u8>, Out<usize>) -> *const c_void,
    av_set: Missing,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(VectorAttr, flags) == 40 && std::mem::offset_of!(VectorOps, av_set) == 56
);

static OPS: VectorOps = VectorOps {
    size: size_of::<VectorOps>(),
    insert,
    insertsvc: unsupported,
    insertsym: unsupported,
    remove,
    lookup,
    straddr,
    av_set: unsupported,
};

impl Class for Vector {
    const CLASS: usize = class::AV;

    fn close(&self) -> Result {
        self.job.enter().close_vector(self.id);
        Ok(())
    }
}

impl Vector {
    /// Number of the vector in its job.
    pub fn id(&self) -> VectorId {
        self.id
    }
}

/// `fi_av_open`.
pub(crate) fn open(
    job: &Arc<Job>,
    attributes: Option<&VectorAttr>,
    context: Context,
) -> Result<Given<Vector>> {
    if attributes.is_some_and(|given| given.rx_ctx_bits != 0 || !given.name.is_null()) {
        return Err(Refusal::UNSUPPORTED);
    }
    let table = attributes.is_some_and(|given| given.kind == AV_TABLE);
    let id = job.enter().open_vector(table)?;
    let (fid, job) = (Fid::of::<Vector>(context), Arc::clone(job));
    Ok(give(Vector { fid, ops: &OPS, job, id }))
}

/// Said once, because what follows from it is an error of the MPI library's that names no cause.
static FOREIGN: Once = Once::new();

#[cold]
fn say_foreign(rank: Rank) {
    FOREIGN.call_once(|| {
        eprintln!(
            "weft: rank {rank} is to reach a process of another job, which Weft does not do yet: MPI_Comm_spawn, \
             MPI_Comm_connect, MPI_Comm_accept and MPI_Comm_join take the MPI library's own transport (mpirun without weft)"
        );
    });
}

/// `FI_SYNC_ERR`: the context is room for an error number of each address.
const SYNC_ERRORS: u64 = 1 << 58;

extern "C" fn insert(
    vector: &Vector,
    addresses: List<'_, Bytes>,
    count: usize,
    handles: Room<u64>,
    flags: u64,
    errors: Room<c_int>,
) -> c_int {
    let work = || {
        let name = vector.job.name();
        let mut state = vector.job.enter();
        let mut inserted = 0;
        for (number, bytes) in addresses.slice(count)?.iter().enumerate() {
            let address = name.parse(bytes);
            if address.is_none() && name.is_foreign(bytes) {
                say_foreign(vector.job.packets().rank());
            }
            let handle = address.and_then(|address| state.insert(vector.id, address));
            inserted += usize::from(handle.is_some());
            handles.set(number, handle.unwrap_or(ANYBODY));
            if flags & SYNC_ERRORS != 0 {
                errors.set(number, if handle.is_some() { 0 } else { libc::EINVAL });
            }
        }
        Ok(inserted)
    };
    sized(work) as c_int
}

extern "C" fn remove(vector: &Vector, handles: List<'_, u64>, count: usize, _flags: u64) -> c_int {
    call(|| {
        let mut state = vector.job.enter();
        handles.slice(count)?.iter().try_for_each(|handle| state.remove(vector.id, *handle))
    })
}

extern "C" fn lookup(vector: &Vector, handle: u64, room: Room<u8>, length: Out<usize>) -> c_int {
    call(|| {
        let address = vector.job.enter().address(vector.id, handle)?;
        give_address(&vector.job.name().emit(address), &room, &length)
    })
}

/// Writes as much of an address as there is room for, and how long it is.
pub(crate) fn give_address(bytes: &Bytes, room: &Room<u8>, length: &Out<usize>) -> Result {
    let fits = length.get().ok_or(Refusal::INVALID)?.min(bytes.len());
    bytes[..fits].iter().enumerate().for_each(|(number, byte)| room.set(number, *byte));
    length.set(bytes.len());
    if fits < bytes.len() { Err(Refusal::TOO_SMALL) } else { Ok(()) }
}

/// `fi_av_straddr`: an address as text.
extern "C" fn straddr(
    vector: &Vector,
    address: Out<Bytes>,
    room: Room<u8>,
    length: Out<usize>,
) -> *const c_void {
    let name = vector.job.name();
    let address = address.get().and_then(|bytes| name.parse(&bytes));
    let text = match address {
        Some(Address { rank, endpoint }) => format!("weft://{rank}/{endpoint}\0"),
        None => "no address of this job\0".to_owned(),
    };
    let given = length.get().unwrap_or(0);
    for (number, byte) in text.bytes().take(given).enumerate() {
        // A text that does not fit is cut off, and ends with a zero all the same.
        room.set(number, if number + 1 == given { 0 } else { byte });
    }
    length.set(text.len());
    room.start()
}

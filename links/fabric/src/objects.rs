//! Objects that libfabric has opened, closed in the right order.
//!
//! The `unsafe` of this module, and why it is sound: each pointer is to an object that libfabric
//! has opened and nobody has closed, whose tables of functions are as `abi` has them,
//! and arguments outlive the calls. The objects belong to one domain that was asked for
//! `FI_THREAD_DOMAIN`, and `&mut` is the only way to their functions, so that one thread at a time
//! calls.
#![allow(unsafe_code)]

use crate::abi::client::{
    Domain, Endpoint, FORMAT_MSG, Fabric, FabricAddress, Fid, MemoryRegion, Queue, QueueAttr,
    Vector, VectorAttr,
};
use crate::abi::{ANYBODY, AV_TABLE, ENABLE, GETWAIT, WAIT_FD, WAIT_NONE, flag, region};
use crate::error::{FabricError, LibfabricError};
use crate::library::{Library, Offer};
use crate::transport::PIECES;
use std::ffi::{CString, c_int, c_void};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;

/// Key of the first piece, behind those of places.
const LOANS: usize = 1 << 20;
/// Bytes of the longest address that a provider has.
const ADDRESS_BYTES_MAX: usize = 512;

/// An enabled endpoint, and the objects that it needs.
pub(crate) struct Objects {
    pub endpoint: *mut Endpoint,
    pub queue: *mut Queue,
    regions: Vec<*mut MemoryRegion>,
    /// By number of the piece: what it is registered as, while it is under way.
    loans: Vec<*mut MemoryRegion>,
    vector: *mut Vector,
    domain: *mut Domain,
    fabric: *mut Fabric,
    region_mode: c_int,
    pub library: &'static Library,
}

// SAFETY: any one thread at a time may use the objects (`FI_THREAD_DOMAIN`).
unsafe impl Send for Objects {}

/// Sizes of queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depths {
    /// Completions that nobody has read, at most.
    pub completions: usize,
    /// Addresses.
    pub ranks: usize,
}

impl Objects {
    /// Opens all that an offer is about. `address` is not set yet. Returns the descriptor to wait
    /// for, if the provider has one.
    pub fn open(
        library: &'static Library,
        offer: &Offer<'_>,
        depths: Depths,
        name: Option<&str>,
    ) -> Result<(Self, Option<OwnedFd>), FabricError> {
        let fabric = library.open_fabric(offer)?;
        let mut objects = Objects {
            endpoint: ptr::null_mut(),
            queue: ptr::null_mut(),
            regions: Vec::new(),
            loans: vec![ptr::null_mut(); PIECES],
            vector: ptr::null_mut(),
            domain: ptr::null_mut(),
            fabric,
            region_mode: offer.domain.mr_mode,
            library,
        };
        let nothing = ptr::null_mut();
        // SAFETY: see above; the offer outlives all of these calls.
        unsafe {
            let open = (*(*fabric).ops).domain;
            let code = open(fabric, offer.info, &raw mut objects.domain, nothing);
            library.check("fi_domain", code as isize)?;
            let domain = (*objects.domain).ops;
            let kind = if offer.domain.av_type == 0 { AV_TABLE } else { offer.domain.av_type };
            let mut attributes = VectorAttr {
                kind,
                rx_ctx_bits: 0,
                count: depths.ranks,
                ep_per_node: 0,
                name: ptr::null(),
                map_addr: nothing,
                flags: 0,
            };
            let vector = &raw mut objects.vector;
            let code = ((*domain).av_open)(objects.domain, &raw mut attributes, vector, nothing);
            library.check("fi_av_open", code as isize)?;
            let descriptor = objects.open_queue(depths.completions)?;
            let endpoint = &raw mut objects.endpoint;
            let code = ((*domain).endpoint)(objects.domain, offer.info, endpoint, nothing);
            library.check("fi_endpoint", code as isize)?;
            if let Some(name) = name {
                objects.set_name(name)?;
            }
            objects.bind_endpoint()?;
            Ok((objects, descriptor))
        }
    }

    /// Opens the queue of completions: with a descriptor to wait for, if that can be had.
    fn open_queue(&mut self, size: usize) -> Result<Option<OwnedFd>, FabricError> {
        let mut attributes = QueueAttr {
            size,
            flags: 0,
            format: FORMAT_MSG,
            wait_obj: WAIT_FD,
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: ptr::null_mut(),
        };
        let nothing = ptr::null_mut();
        // SAFETY: see above.
        unsafe {
            let open = (*(*self.domain).ops).cq_open;
            if open(self.domain, &raw mut attributes, &raw mut self.queue, nothing) == 0 {
                let mut descriptor: c_int = -1;
                let control = (*(*self.queue).fid.ops).control;
                let into = (&raw mut descriptor).cast();
                if control(self.queue.cast(), GETWAIT, into) == 0 && descriptor >= 0 {
                    // The provider's own is closed with the queue.
                    let own = BorrowedFd::borrow_raw(descriptor).try_clone_to_owned()?;
                    return Ok(Some(own));
                }
                close(self.queue.cast());
                self.queue = ptr::null_mut();
            }
            attributes.wait_obj = WAIT_NONE;
            let code = open(self.domain, &raw mut attributes, &raw mut self.queue, nothing);
            self.library.check("fi_cq_open", code as isize)?;
        }
        Ok(None)
    }

    /// Gives the endpoint, which is not enabled yet, a name.
    fn set_name(&mut self, name: &str) -> Result<(), FabricError> {
        let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let length = name.as_bytes_with_nul().len();
        // SAFETY: see above; the provider copies the text, which ends with a zero.
        let code = unsafe {
            let set = (*(*self.endpoint).cm).setname;
            set(self.endpoint.cast(), name.as_ptr().cast_mut().cast(), length)
        };
        self.library.check("fi_setname", code as isize)?;
        Ok(())
    }

    fn bind_endpoint(&mut self) -> Result<(), FabricError> {
        let fid: *mut Fid = self.endpoint.cast();
        // SAFETY: see above.
        unsafe {
            let ops = (*fid).ops;
            let code = ((*ops).bind)(fid, self.queue.cast(), flag::SEND | flag::RECV);
            self.library.check("fi_ep_bind", code as isize)?;
            let code = ((*ops).bind)(fid, self.vector.cast(), 0);
            self.library.check("fi_ep_bind", code as isize)?;
            let code = ((*ops).control)(fid, ENABLE, ptr::null_mut());
            self.library.check("fi_enable", code as isize)?;
        }
        Ok(())
    }

    /// Address of the endpoint, to be told to others.
    pub fn address(&mut self) -> Result<Vec<u8>, FabricError> {
        let mut bytes = vec![0u8; ADDRESS_BYTES_MAX];
        let mut length = bytes.len();
        // SAFETY: see above; the call writes `length` bytes at most.
        let code = unsafe {
            let get = (*(*self.endpoint).cm).getname;
            get(self.endpoint.cast(), bytes.as_mut_ptr().cast(), &raw mut length)
        };
        self.library.check("fi_getname", code as isize)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Handle of another endpoint's address, which has as many bytes as this one's own, or is a
    /// text.
    pub fn insert(&mut self, address: &[u8]) -> Option<FabricAddress> {
        let mut handle: FabricAddress = ANYBODY;
        // SAFETY: see above; addresses of a provider have one length, or end with a zero, as the
        // caller has seen.
        let inserted = unsafe {
            let insert = (*(*self.vector).ops).insert;
            insert(self.vector, address.as_ptr().cast(), 1, &raw mut handle, 0, ptr::null_mut())
        };
        (inserted == 1 && handle != ANYBODY).then_some(handle)
    }

    /// Registers memory for sends and receives if the provider wants that, and returns its
    /// descriptor there.
    pub fn register(&mut self, start: *const c_void, bytes: usize) -> Result<usize, FabricError> {
        let Some(region) = self.region(start, bytes, self.regions.len())? else { return Ok(0) };
        self.regions.push(region);
        Ok(descriptor(region))
    }

    /// Does so for a piece, until [that ends](Self::end_loan).
    pub fn begin_loan(
        &mut self,
        number: usize,
        start: *const c_void,
        bytes: usize,
    ) -> Result<usize, LibfabricError> {
        let Some(region) = self.region(start, bytes, LOANS + number)? else { return Ok(0) };
        self.loans[number] = region;
        Ok(descriptor(region))
    }

    /// The piece is used no more.
    #[inline]
    pub fn end_loan(&mut self, number: usize) {
        let region = std::mem::replace(&mut self.loans[number], ptr::null_mut());
        if !region.is_null() && !close(region.cast()) {
            self.regions.push(region);
        }
    }

    fn region(
        &mut self,
        start: *const c_void,
        bytes: usize,
        key: usize,
    ) -> Result<Option<*mut MemoryRegion>, LibfabricError> {
        if self.region_mode & region::LOCAL == 0 {
            return Ok(None);
        }
        let mut made: *mut MemoryRegion = ptr::null_mut();
        let access = flag::SEND | flag::RECV;
        // SAFETY: see above; the memory stays until the region is closed, by its owner's word.
        unsafe {
            let (domain, into) = (self.domain.cast(), &raw mut made);
            let register = (*(*self.domain).mr).reg;
            let nothing = ptr::null_mut();
            let code = register(domain, start, bytes, access, 0, key as u64, 0, into, nothing);
            self.library.succeeded("fi_mr_reg", code as isize)?;
            if let Err(error) = self.enable(made) {
                close(made.cast());
                return Err(error);
            }
        }
        Ok(Some(made))
    }

    /// # Safety
    /// The region is open.
    unsafe fn enable(&mut self, region: *mut MemoryRegion) -> Result<(), LibfabricError> {
        if self.region_mode & region::ENDPOINT == 0 {
            return Ok(());
        }
        // SAFETY: see above.
        unsafe {
            let ops = (*region).fid.ops;
            let code = ((*ops).bind)(region.cast(), self.endpoint.cast(), 0);
            self.library.succeeded("fi_mr_bind", code as isize)?;
            let code = ((*ops).control)(region.cast(), ENABLE, ptr::null_mut());
            self.library.succeeded("fi_mr_enable", code as isize)?;
        }
        Ok(())
    }

    /// True if who waits for the queue's descriptor misses nothing from here on.
    pub fn may_sleep(&mut self) -> bool {
        let mut waited: *mut Fid = self.queue.cast();
        // SAFETY: see above.
        unsafe {
            let Some(trywait) = (*(*self.fabric).ops).trywait else { return false };
            trywait(self.fabric, &raw mut waited, 1) == 0
        }
    }

    /// Closes the endpoint: nothing it was given is used from here on. False if it cannot be.
    pub fn close_endpoint(&mut self) -> bool {
        let endpoint = std::mem::replace(&mut self.endpoint, ptr::null_mut());
        endpoint.is_null() || close(endpoint.cast())
    }
}

/// Descriptor by which sends and receives name a region.
fn descriptor(region: *mut MemoryRegion) -> usize {
    // SAFETY: a region that is open.
    unsafe { (*region).mem_desc.expose_provenance() }
}

/// `fi_close`; false if it failed, so that the object is still there.
fn close(object: *mut Fid) -> bool {
    // SAFETY: an object that is open, and not used after this.
    unsafe { ((*(*object).ops).close)(object) == 0 }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let rest = [self.endpoint.cast()].into_iter();
        let regions = self.regions.drain(..).chain(self.loans.drain(..));
        let rest = rest.chain(regions.map(<*mut MemoryRegion>::cast));
        let rest = rest.chain([self.vector.cast(), self.queue.cast(), self.domain.cast()]);
        let all: [*mut Fid; 1] = [self.fabric.cast()];
        for object in rest.chain(all).filter(|object: &*mut Fid| !object.is_null()) {
            // An object that cannot be closed keeps open those that it uses.
            if !close(object) {
                return;
            }
        }
    }
}

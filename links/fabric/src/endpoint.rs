//! A reliable datagram endpoint, and the operations under way on it.
//!
//! The `unsafe` of this module, and why it is sound:
//! - Functions are called as in `objects.rs`.
//! - An operation gets memory of a [`DatagramPlace`], whose only handle lies in `under_way` until
//!   the queue says that the operation is complete, or the endpoint is closed; and a context of its
//!   own, to which the provider may write meanwhile. Contexts are known by their addresses, and
//!   never read. Of a place that is being sent, which the provider only reads, others may read,
//!   too.
//! - A [`ProgramMemory`] is the program's. Whoever lends it to the link keeps it readable, or
//!   writable and out of anybody's use, until the link has it back (`weft_link::memory`); the link
//!   says so once its operation is complete, or the endpoint closed (`pieces.rs`).
//! - If the endpoint cannot be closed, memory and contexts stay for ever.
#![allow(unsafe_code)]

use crate::abi::client::{FabricAddress, QueueEntry, QueueError};
use crate::abi::{ANYBODY, address};
use crate::error::{FabricError, LibfabricError};
use crate::library::{Library, Offer};
use crate::memory::ProgramMemory;
use crate::objects::{Depths, Objects};
use crate::transport::{DatagramTransport, PIECES, TransportEvent, Unsent};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::mem::size_of;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use weft_datagram::memory::{DatagramPlace, PageMapping, split};
use weft_wire::Rank;

/// Completions that are read at once.
const BATCH: usize = 32;
/// Places of one slab.
const SLAB_PLACES: usize = 64;
/// Layer over unreliable datagrams.
const SENDS_AGAIN: &str = "ofi_rxd";
/// `-FI_EAGAIN`.
const AGAIN: isize = -(libc::EAGAIN as isize);
/// `-FI_ENOTCONN`: the endpoint was shut down.
const NOT_CONNECTED: isize = -(libc::ENOTCONN as isize);
/// `-FI_EAVAIL`: an error is there to be read.
const ERROR_AVAILABLE: isize = -259;

/// `struct fi_context2` of one operation: the provider's. Atomic because it is written to behind a
/// shared reference.
#[repr(C, align(64))]
struct Context([AtomicUsize; 8]);

/// Sizes of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Bytes of a place.
    pub place_bytes: usize,
    /// Bound on the number of places.
    pub places: usize,
    /// Ranks of the job.
    pub ranks: usize,
}

/// An endpoint.
pub struct Endpoint {
    objects: Objects,
    /// By number of the place: the operation under way on it.
    under_way: Vec<Option<UnderWay>>,
    /// Of all places, and then of pieces.
    contexts: Arc<[Context]>,
    /// True for pieces under way, by number.
    pieces: [bool; PIECES],
    longest_piece: usize,
    slabs: Vec<Arc<PageMapping>>,
    /// By slab: what the provider calls its region.
    descriptors: Vec<usize>,
    sizes: Sizes,
    /// By rank: its address.
    peers: Vec<FabricAddress>,
    inject_bytes: usize,
    arrivals: Option<OwnedFd>,
    address: Vec<u8>,
    /// True if addresses are texts.
    has_texts: bool,
}

/// Operation that is over.
enum Operation {
    OnPlace(UnderWay),
    OnPiece(usize),
}

struct UnderWay {
    place: DatagramPlace,
    /// Destination of a send.
    to: Option<Rank>,
}

impl Endpoint {
    /// Opens the endpoint of an offer, under a name if it takes one.
    pub(crate) fn open(
        library: &'static Library,
        offer: &Offer<'_>,
        sizes: Sizes,
        name: Option<&str>,
    ) -> Result<Self, FabricError> {
        let places = sizes.places.next_multiple_of(SLAB_PLACES);
        let depths = Depths { completions: places + PIECES, ranks: sizes.ranks };
        let (mut objects, arrivals) = Objects::open(library, offer, depths, name)?;
        // What sends again by itself has timers, of which its descriptor knows nothing.
        let arrivals = arrivals.filter(|_| !offer.provider().contains(SENDS_AGAIN));
        let own = objects.address()?;
        Ok(Endpoint {
            objects,
            under_way: (0..places).map(|_| None).collect(),
            contexts: (0..places + PIECES).map(|_| Context(Default::default())).collect(),
            pieces: [false; PIECES],
            longest_piece: if offer.has_tags() { offer.message_bytes() } else { 0 },
            slabs: Vec::new(),
            descriptors: Vec::new(),
            sizes: Sizes { places, ..sizes },
            peers: vec![ANYBODY; sizes.ranks],
            inject_bytes: offer.tx.inject_size,
            arrivals,
            address: own,
            has_texts: offer.of.addr_format == address::TEXT,
        })
    }

    /// Address of this endpoint, to be told to others.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Notes the address of a rank's endpoint. False if it is none.
    pub fn set_peer(&mut self, rank: Rank, address: &[u8]) -> bool {
        // Texts have a length of their own and end with a zero; all others are equally long.
        let is_one = match self.has_texts {
            true => address.iter().position(|byte| *byte == 0) == address.len().checked_sub(1),
            false => address.len() == self.address.len(),
        };
        let known = (is_one && !address.is_empty()).then(|| self.objects.insert(address));
        match known.flatten() {
            Some(handle) => {
                self.peers[rank.index()] = handle;
                true
            }
            None => false,
        }
    }

    /// Descriptor that is readable while something has arrived, if the provider has one.
    pub fn arrivals(&self) -> Option<BorrowedFd<'_>> {
        self.arrivals.as_ref().map(OwnedFd::as_fd)
    }

    /// Operation whose context has this address; it is over.
    #[inline]
    fn take_under_way(&mut self, context: *mut c_void) -> Option<Operation> {
        let offset = context.addr().wrapping_sub(self.contexts.as_ptr().addr());
        let index = offset / size_of::<Context>();
        match self.under_way.get_mut(index) {
            Some(under_way) => under_way.take().map(Operation::OnPlace),
            None => self.end_piece(index - self.sizes.places).map(Operation::OnPiece),
        }
    }

    /// Notes that a piece is used no more. Its number, if it was.
    fn end_piece(&mut self, number: usize) -> Option<usize> {
        let is_its = std::mem::take(self.pieces.get_mut(number)?);
        if is_its {
            self.objects.end_loan(number);
        }
        is_its.then_some(number)
    }

    /// Address of the context of a place, which is not under way.
    #[inline]
    fn context(&self, place: &DatagramPlace) -> *mut c_void {
        debug_assert!(self.under_way[place.index() as usize].is_none(), "a place is used twice");
        self.context_at(place.index() as usize)
    }

    #[inline]
    fn context_at(&self, index: usize) -> *mut c_void {
        let context: *const Context = &raw const self.contexts[index];
        context.cast_mut().cast()
    }

    #[inline]
    fn descriptor(&self, place: &DatagramPlace) -> *mut c_void {
        let descriptor = self.descriptors[place.index() as usize / SLAB_PLACES];
        ptr::with_exposed_provenance_mut(descriptor)
    }

    /// Notes a piece as under way; what the provider calls its region.
    fn begin_piece(
        &mut self,
        number: usize,
        piece: &ProgramMemory,
    ) -> Result<*mut c_void, LibfabricError> {
        debug_assert!(!self.pieces[number], "a number is used twice");
        let start = piece.start().as_ptr().cast_const().cast();
        let descriptor = self.objects.begin_loan(number, start, piece.bytes())?;
        self.pieces[number] = true;
        Ok(ptr::with_exposed_provenance_mut(descriptor))
    }

    fn piece_context(&self, number: usize) -> *mut c_void {
        self.context_at(self.sizes.places + number)
    }

    #[inline]
    fn begin(&mut self, place: DatagramPlace, to: Option<Rank>) {
        let index = place.index() as usize;
        self.under_way[index] = Some(UnderWay { place, to });
    }

    /// Closes the endpoint. False if it cannot be; what is lent of the program's memory cannot stay
    /// lent for ever, so the process ends then.
    fn close(&mut self) -> bool {
        let is_closed = self.objects.close_endpoint();
        if !is_closed && self.pieces.contains(&true) {
            eprintln!("weft: libfabric does not close an endpoint that has memory of this program");
            std::process::abort();
        }
        is_closed
    }

    fn refusal(&self, call: &'static str, code: isize) -> LibfabricError {
        self.objects.library.refusal(call, code)
    }

    #[cold]
    fn read_error(&mut self) -> Option<TransportEvent> {
        let mut error = QueueError {
            context: ptr::null_mut(),
            flags: 0,
            len: 0,
            buf: ptr::null_mut(),
            data: 0,
            tag: 0,
            olen: 0,
            err: 0,
            prov_errno: 0,
            err_data: ptr::null_mut(),
            err_data_size: 0,
            later: [0; 8],
        };
        let queue = self.objects.queue;
        // SAFETY: see above; the entry is at least as long as that of any version, and has no room
        // for more data.
        let count = unsafe { ((*(*queue).ops).readerr)(queue, &raw mut error, 0) };
        if count != 1 {
            return None;
        }
        let code = isize::try_from(error.err).unwrap_or(0);
        Some(match self.take_under_way(error.context)? {
            Operation::OnPlace(UnderWay { place, to: Some(to) }) => {
                TransportEvent::SendFailed(place, to, self.refusal("fi_send", code))
            }
            Operation::OnPlace(UnderWay { place, to: None }) => {
                TransportEvent::ReceiveFailed(place)
            }
            Operation::OnPiece(number) => {
                TransportEvent::Ended(number, Err(self.refusal("fi_tsend", code)))
            }
        })
    }
}

impl DatagramTransport for Endpoint {
    fn grow(&mut self) -> Result<Vec<DatagramPlace>, FabricError> {
        let first = self.slabs.len() * SLAB_PLACES;
        if first >= self.sizes.places {
            return Ok(Vec::new());
        }
        let bytes = SLAB_PLACES * self.sizes.place_bytes;
        let slab = PageMapping::anonymous(bytes)?;
        let start = slab.at(0, bytes);
        let (slab, places) = split(slab, 0, self.sizes.place_bytes as u32, first as u32);
        // It stays mapped at least until the region is closed: this endpoint has it, too.
        self.slabs.push(slab);
        self.descriptors.push(self.objects.register(start.as_ptr().cast(), bytes)?);
        Ok(places)
    }

    #[inline]
    fn send(
        &mut self,
        place: DatagramPlace,
        part: Range<usize>,
        to: Rank,
    ) -> Result<Option<DatagramPlace>, (DatagramPlace, Unsent)> {
        let (endpoint, peer) = (self.objects.endpoint, self.peers[to.index()]);
        let bytes: *const c_void = place[part.clone()].as_ptr().cast();
        if endpoint.is_null() {
            return Err((place, Unsent::Failed(self.refusal("fi_send", NOT_CONNECTED))));
        }
        let injects = part.len() <= self.inject_bytes;
        let (context, descriptor) = (self.context(&place), self.descriptor(&place));
        // SAFETY: see above. Injected bytes are copied before the call returns.
        let code = unsafe {
            let ops = (*endpoint).msg;
            match injects {
                true => ((*ops).inject)(endpoint, bytes, part.len(), peer),
                false => ((*ops).send)(endpoint, bytes, part.len(), descriptor, peer, context),
            }
        };
        match code {
            0.. if injects => Ok(Some(place)),
            0.. => {
                self.begin(place, Some(to));
                Ok(None)
            }
            AGAIN => Err((place, Unsent::Full)),
            other => Err((place, Unsent::Failed(self.refusal("fi_send", other)))),
        }
    }

    fn post(&mut self, mut place: DatagramPlace) -> Result<(), DatagramPlace> {
        let endpoint = self.objects.endpoint;
        if endpoint.is_null() {
            return Err(place);
        }
        let (bytes, length): (*mut c_void, _) = (place.as_mut_ptr().cast(), place.len());
        let (context, descriptor) = (self.context(&place), self.descriptor(&place));
        // SAFETY: see above.
        let code = unsafe {
            let receive = (*(*endpoint).msg).recv;
            receive(endpoint, bytes, length, descriptor, ANYBODY, context)
        };
        // Whatever the reason, it is tried again.
        if code < 0 {
            return Err(place);
        }
        self.begin(place, None);
        Ok(())
    }

    fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        let under_way = self.under_way.get(index as usize)?.as_ref()?;
        under_way.to.map(|_| &under_way.place)
    }

    fn poll(&mut self, events: &mut VecDeque<TransportEvent>) {
        let mut entries = [QueueEntry { context: ptr::null_mut(), flags: 0, len: 0 }; BATCH];
        let queue = self.objects.queue;
        // SAFETY: see above; entries have the format that the queue was opened with.
        let count =
            unsafe { ((*(*queue).ops).read)(queue, entries.as_mut_ptr().cast(), entries.len()) };
        if count == ERROR_AVAILABLE {
            events.extend(self.read_error());
            return;
        }
        let count = usize::try_from(count).unwrap_or(0);
        for entry in &entries[..count] {
            events.extend(self.take_under_way(entry.context).map(|operation| match operation {
                Operation::OnPlace(UnderWay { place, to: Some(_) }) => TransportEvent::Sent(place),
                Operation::OnPlace(UnderWay { place, to: None }) => {
                    let bytes = entry.len.min(place.len());
                    TransportEvent::Received(place, bytes)
                }
                Operation::OnPiece(number) => TransportEvent::Ended(number, Ok(entry.len)),
            }));
        }
    }

    fn may_sleep(&mut self) -> bool {
        self.objects.may_sleep()
    }

    fn longest_piece(&self) -> usize {
        self.longest_piece
    }

    fn send_piece(
        &mut self,
        number: usize,
        to: Rank,
        tag: u64,
        piece: &ProgramMemory,
    ) -> Result<(), Unsent> {
        let (start, bytes) = (piece.start().as_ptr().cast_const().cast(), piece.bytes());
        let (endpoint, peer, context) =
            (self.objects.endpoint, self.peers[to.index()], self.piece_context(number));
        if endpoint.is_null() {
            return Err(Unsent::Failed(self.refusal("fi_tsend", NOT_CONNECTED)));
        }
        let descriptor = self.begin_piece(number, piece).map_err(Unsent::Failed)?;
        // SAFETY: see above.
        let code = unsafe {
            let send = (*(*endpoint).tagged).send;
            send(endpoint, start, bytes, descriptor, peer, tag, context)
        };
        if code >= 0 {
            return Ok(());
        }
        self.end_piece(number);
        Err(if code == AGAIN {
            Unsent::Full
        } else {
            Unsent::Failed(self.refusal("fi_tsend", code))
        })
    }

    fn post_piece(&mut self, number: usize, tag: u64, piece: &ProgramMemory) -> bool {
        let (start, bytes) = (piece.start().as_ptr().cast(), piece.bytes());
        let (endpoint, context) = (self.objects.endpoint, self.piece_context(number));
        if endpoint.is_null() {
            return false;
        }
        let Ok(descriptor) = self.begin_piece(number, piece) else { return false };
        // SAFETY: see above.
        let code = unsafe {
            let receive = (*(*endpoint).tagged).recv;
            receive(endpoint, start, bytes, descriptor, ANYBODY, tag, 0, context)
        };
        if code < 0 {
            self.end_piece(number);
        }
        code >= 0
    }

    fn cancel_piece(&mut self, number: usize) {
        let (endpoint, context) = (self.objects.endpoint, self.piece_context(number));
        // SAFETY: see above. Whatever it returns, the queue says when the operation is over.
        let _ = unsafe { ((*(*endpoint).ops).cancel)(endpoint.cast(), context) };
    }

    fn shut_down(&mut self) {
        self.close();
        self.pieces = [false; PIECES];
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if !self.close() {
            let slabs = std::mem::take(&mut self.slabs);
            std::mem::forget((slabs, Arc::clone(&self.contexts)));
        }
    }
}

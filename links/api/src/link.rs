//! The trait of all links.

use crate::bell::{Bells, Ticket, Waiter};
use crate::clock::Clock;
use crate::memory::{Lending, Posting, ZeroCopy};
use crate::ni::SeparateNi;
use crate::{
    Buffer, LinkViolation, Network, Paths, Payload, Received, Services, SharedFrames, ShortPackets,
};
use std::ptr::NonNull;
use std::sync::Arc;
use weft_wire::{Header, Rank};

/// Turn of a sender. Between two packets of a sender that always has some, a link hands over fewer
/// than two turns of any other, and in the long run as many of all that always have some (I15).
pub const TURN: u32 = 16;

/// Guarantees and sizes of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Largest number of user bytes of a frame.
    pub max_payload: usize,
    /// Largest number of user bytes with which one frame can reach several receivers of a
    /// multicast. It is `max_payload` where that makes no difference.
    pub multicast_payload: usize,
    /// Largest number of user bytes that travel with the header, at no extra cost.
    pub inline_payload: usize,
    /// True if every frame that is transmitted arrives.
    pub lossless: bool,
    /// True if frames of one ordered pair arrive in the order in which they were transmitted.
    pub ordered: bool,
    /// True if one frame, filled once, serves any number of receivers at no extra cost.
    pub multicast: bool,
    /// Number of frames that this rank can have in use at once.
    pub frames: usize,
    /// Number of frames for packets that arrive, all senders together. It is 0 where packets stay
    /// in their senders' memory, or the NI is separate from the host.
    pub receive_frames: usize,
    /// Number of buffers at the host for packets that arrive, where the NI is separate; 0
    /// elsewhere.
    pub host_frames: usize,
    /// True if threads of a rank may run at the same time: they are threads of the system.
    pub threads: bool,
}

/// Link of one rank to the others.
///
/// No method blocks. Threads that share a link lock it.
///
/// Beside frames a link may have more. What is used with every packet is a constant of the type
/// ([`SHORT`](Self::SHORT), [`NETWORK`](Self::NETWORK), [`NI`](Self::NI)): who has its value may
/// use it, and links without have a type that has no value. All else is asked for
/// ([`lending`](Self::lending) and the methods behind it). None of these has a default, so that a
/// link made around another cannot forget one; a link of frames alone says so
/// ([`only_frames!`](crate::only_frames)).
pub trait Link: Send + Sized + 'static {
    /// Clock of the host of this rank.
    type Clock: Clock;

    /// Short packets; [`crate::NoShort`] where there are none.
    type Short: ShortPackets<Self>;

    /// Flushes and timers; [`crate::NoNetwork`] where there are none.
    type Network: Network<Self>;

    /// Separate NI; [`crate::ni::NoSeparateNi`] where the NI half of the protocols runs inline, in
    /// calls of the host.
    type SeparateNi: SeparateNi<Self>;

    /// Short packets, if this link has them.
    const SHORT: Option<Self::Short>;

    /// Flushes and timers, if this link has them.
    const NETWORK: Option<Self::Network>;

    /// NI half of the protocols where it runs apart from the host, as events of whoever drives this
    /// link.
    const NI: Option<Self::SeparateNi>;

    /// Returns guarantees and sizes of this link.
    fn capabilities(&self) -> &Capabilities;

    /// Returns the clock.
    fn clock(&self) -> Self::Clock;

    /// Allocates a frame to be filled, for a packet to one rank alone if it is given, which may
    /// have [`Paths::payload_to`] bytes. `None` while all are in use.
    fn alloc(&mut self, to: Option<Rank>) -> Option<Buffer>;

    /// Address of the user bytes of `buffer`. An allocated buffer has [`Capabilities::max_payload`]
    /// bytes, or those for its receiver, which are writable. A received one has as many as its
    /// header says, read-only. The address does not change until the buffer is freed.
    fn bytes(&self, buffer: Buffer) -> NonNull<u8>;

    /// Transmits a packet, at the next [`Self::flush`] at the latest. Of a [`Payload::Buffer`] it
    /// transmits `header.size` bytes.
    ///
    /// A link that has several ways to a rank, and is not [ordered](Capabilities::ordered), keeps
    /// to `header.follows`: what [follows](weft_wire::Follows) others is handed over after them, as
    /// far as they arrive. To tell, its other end may have `header.serial`, a number of the link's
    /// own; of what protocols number, acknowledge and send again it knows nothing.
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload);

    /// Sends what was transmitted since the last flush. Links that hold nothing back do nothing.
    fn flush(&mut self);

    /// Receives the next frame, if one has arrived.
    ///
    /// # Errors
    /// [`LinkViolation`] if a peer wrote something that is no frame. It was dropped.
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation>;

    /// True if [`Self::receive`] would find something.
    fn has_arrivals(&mut self) -> bool;

    /// Copies the first bytes of `buffer`, as many as `into` has. The frame must have as many.
    fn copy_out(&self, buffer: Buffer, into: &mut [u8]);

    /// Frees a frame. An allocated one may still be on its way: the link knows.
    fn free(&mut self, buffer: Buffer);

    /// Returns the bells with which threads of this rank sleep, and which announce losses.
    fn bells(&self) -> Arc<dyn Bells>;

    /// Arms the bell of `waiter`: from here on an arrival rings it. Returns the ticket to wait
    /// with, or `None` if something has arrived already. If the last [`Self::alloc`] found no
    /// frame, a frame that is released rings the bell of the host too. Check for one before
    /// sleeping.
    ///
    /// The sleeper pays for the handshake here, so that senders do not have to.
    fn arm(&mut self, waiter: Waiter) -> Option<Ticket>;

    /// Disarms the bell of `waiter`, which is awake.
    fn disarm(&mut self, waiter: Waiter);

    /// Returns the link's services beside frames, which its node uses.
    fn services(&self) -> Services;

    /// Frames that others read where they are, if there are such.
    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames>;

    /// Lender of the program's memory to frames; `None` if this link sends from its frames only.
    fn lending(&mut self) -> Option<&mut dyn Lending>;

    /// Reader of packets into the program's memory; `None` if this link reads into its own places
    /// only.
    fn posting(&mut self) -> Option<&mut dyn Posting>;

    /// Mover of the program's memory in one piece; `None` if this link sends packets only.
    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy>;

    /// Paths to other ranks; `None` where all are alike and none changes.
    fn paths(&mut self) -> Option<&mut dyn Paths>;
}

/// Writes what a [`Link`] says that has frames and nothing besides, in its `impl`.
#[macro_export]
macro_rules! only_frames {
    () => {
        type Short = $crate::NoShort;
        type Network = $crate::NoNetwork;
        type SeparateNi = $crate::ni::NoSeparateNi;

        const SHORT: Option<$crate::NoShort> = None;
        const NETWORK: Option<$crate::NoNetwork> = None;
        const NI: Option<$crate::ni::NoSeparateNi> = None;

        fn services(&self) -> $crate::Services {
            $crate::Services::default()
        }

        fn shared_frames(&mut self) -> Option<&mut dyn $crate::SharedFrames> {
            None
        }

        $crate::no_program_memory!();

        fn paths(&mut self) -> Option<&mut dyn $crate::Paths> {
            None
        }
    };
}

/// Writes what a [`Link`] says that uses no memory of the program's, in its `impl`.
#[macro_export]
macro_rules! no_program_memory {
    () => {
        fn lending(&mut self) -> Option<&mut dyn $crate::memory::Lending> {
            None
        }

        fn posting(&mut self) -> Option<&mut dyn $crate::memory::Posting> {
            None
        }

        fn zero_copy(&mut self) -> Option<&mut dyn $crate::memory::ZeroCopy> {
            None
        }
    };
}

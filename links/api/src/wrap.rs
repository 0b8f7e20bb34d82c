//! Wrappers around any link: each is a link itself and changes one thing.

mod capture;
mod count;
mod faults;
mod frames_only;
mod inspect;
mod traced;

pub use capture::{Capture, Captured};
pub use count::{Count, FrameCounters};
pub use faults::{FaultPlan, Faults};
pub use frames_only::FramesOnly;
pub use inspect::InspectOnDrop;
pub use traced::{Traced, head_of};

/// Forwards the [`crate::Link`] methods that a wrapper does not change to `self.inner`.
macro_rules! delegate {
    ($($method:ident),* $(,)?) => { $(crate::wrap::delegate!(@ $method);)* };
    (@ capabilities) => {
        fn capabilities(&self) -> &crate::Capabilities { self.inner.capabilities() }
    };
    (@ alloc) => {
        const BY_WAY: bool = L::BY_WAY;
        fn alloc(&mut self) -> Option<crate::Buffer> { self.inner.alloc() }
        fn alloc_to(&mut self, to: weft_wire::Rank) -> Option<crate::Buffer> {
            self.inner.alloc_to(to)
        }
        fn payload_to(&self, to: weft_wire::Rank) -> usize { self.inner.payload_to(to) }
    };
    (@ bytes) => {
        fn bytes(&self, buffer: crate::Buffer) -> std::ptr::NonNull<u8> { self.inner.bytes(buffer) }
    };
    (@ share) => {
        fn share(&mut self, buffer: crate::Buffer, size: u16, readers: &[weft_wire::Rank]) {
            self.inner.share(buffer, size, readers);
        }
    };
    (@ transmit) => {
        fn transmit(&mut self, to: weft_wire::Rank, header: &weft_wire::Header, payload: crate::Payload) {
            self.inner.transmit(to, header, payload);
        }
    };
    (@ receive) => {
        fn receive(&mut self) -> Result<Option<crate::Received>, crate::LinkViolation> {
            self.inner.receive()
        }
    };
    (@ has_arrivals) => { fn has_arrivals(&mut self) -> bool { self.inner.has_arrivals() } };
    (@ detach) => {
        fn detach(&mut self, buffer: crate::Buffer, size: u16) -> crate::Buffer {
            self.inner.detach(buffer, size)
        }
    };
    (@ copy_out) => {
        fn copy_out(&self, buffer: crate::Buffer, into: &mut [u8]) {
            self.inner.copy_out(buffer, into);
        }
    };
    (@ free) => { fn free(&mut self, buffer: crate::Buffer) { self.inner.free(buffer); } };
    (@ bells) => {
        fn bells(&self) -> std::sync::Arc<dyn crate::bell::Bells> { self.inner.bells() }
    };
    (@ tend) => {
        fn tend(&mut self, now: crate::clock::Nanoseconds) -> Option<crate::PathMtu> {
            self.inner.tend(now)
        }
    };
    (@ arm) => {
        fn arm(&mut self, waiter: crate::bell::Waiter) -> Option<crate::bell::Ticket> {
            self.inner.arm(waiter)
        }
    };
    (@ disarm) => {
        fn disarm(&mut self, waiter: crate::bell::Waiter) { self.inner.disarm(waiter); }
        fn ring_upcall_within(
            &mut self,
            after: std::ops::RangeInclusive<std::time::Duration>,
        ) -> Option<std::time::Duration> {
            self.inner.ring_upcall_within(after)
        }
    };
    // Methods that no wrapper changes: frames in memory, sleeping, and where the NI half runs.
    (@ surroundings) => {
        crate::wrap::delegate!(placement, alloc, bytes, share, flush, has_arrivals, detach, free);
        crate::wrap::delegate!(copy_out);
        crate::wrap::delegate!(bells, tend, arm, disarm);
    };
    // Packets in no frame, for wrappers that do not look at packets.
    (@ short) => {
        const SHORT: bool = L::SHORT;
        fn takes_short(&self, to: weft_wire::Rank) -> bool { self.inner.takes_short(to) }
        fn transmit_short(
            &mut self,
            to: weft_wire::Rank,
            header: &weft_wire::Header,
            bytes: &impl crate::Gather,
        ) {
            self.inner.transmit_short(to, header, bytes);
        }
        fn peek_short(&self) -> Option<crate::Plain> { self.inner.peek_short() }
        fn take_short(&mut self, short: &crate::Plain) { self.inner.take_short(short); }
        fn receive_plain(&mut self) -> crate::ReceivedPlain { self.inner.receive_plain() }
        fn store_short(&mut self, short: &crate::Plain) -> crate::Buffer {
            self.inner.store_short(short)
        }
    };
    (@ lossy) => { const LOSSY: bool = L::LOSSY; };
    (@ flush) => { fn flush(&mut self) { self.inner.flush(); } };
    (@ placement) => {
        const SEPARATE_NI: bool = L::SEPARATE_NI;
        type Clock = L::Clock;
        type Glance = crate::NoGlance;
        fn glance(&self) -> std::sync::Arc<crate::NoGlance> { std::sync::Arc::default() }
        fn clock(&self) -> L::Clock { self.inner.clock() }
        fn control_program(&self) -> crate::ni::ControlProgram { self.inner.control_program() }
        fn notify_ni(&mut self, work: Option<crate::clock::Work>) { self.inner.notify_ni(work); }
        fn copy_to_host(&mut self, payload: crate::Payload, size: u16) -> Option<crate::Payload> {
            self.inner.copy_to_host(payload, size)
        }
        fn wake_at(&mut self, deadline: Option<crate::clock::Nanoseconds>) {
            self.inner.wake_at(deadline);
        }
        fn interrupt(&mut self) { self.inner.interrupt(); }
    };
    (@ words) => {
        fn words(&self) -> Option<std::sync::Arc<dyn crate::SharedWords>> { self.inner.words() }
    };
}
pub(crate) use delegate;

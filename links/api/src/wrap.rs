//! Wrappers around any link: each is a link itself and changes one thing.

mod capture;
mod count;
mod faults;
mod frames_only;
mod inspect;
mod through;
mod traced;

pub use capture::{Capture, Captured};
pub use count::{Count, FrameCounters};
pub use faults::{FaultPlan, FaultyLink};
pub use frames_only::FramesOnly;
pub use inspect::InspectOnDrop;
pub use through::{Through, Wrapper, through};
pub use traced::{Traced, gathered_head, head_of};

/// Forwards the parts of [`crate::Link`] that a wrapper does not change to `self.inner`.
macro_rules! delegate {
    ($($part:ident),* $(,)?) => { $(crate::wrap::delegate!(@ $part);)* };
    (@ short) => {
        type Short = crate::wrap::Through<L::Short>;
        const SHORT: Option<Self::Short> = crate::wrap::through(L::SHORT);
    };
    // Wrappers that look at each packet see none that is in no frame.
    (@ no_short) => {
        type Short = crate::NoShort;
        const SHORT: Option<Self::Short> = None;
    };
    (@ network) => {
        type Network = crate::wrap::Through<L::Network>;
        const NETWORK: Option<Self::Network> = crate::wrap::through(L::NETWORK);
    };
    (@ host) => {
        type Clock = L::Clock;
        type SeparateNi = crate::wrap::Through<L::SeparateNi>;
        const NI: Option<Self::SeparateNi> = crate::wrap::through(L::NI);
        fn clock(&self) -> L::Clock { self.inner.clock() }
        fn bells(&self) -> std::sync::Arc<dyn crate::bell::Bells> { self.inner.bells() }
        fn arm(&mut self, waiter: crate::bell::Waiter) -> Option<crate::bell::Ticket> {
            self.inner.arm(waiter)
        }
        fn disarm(&mut self, waiter: crate::bell::Waiter) { self.inner.disarm(waiter); }
    };
    (@ capabilities) => {
        fn capabilities(&self) -> &crate::Capabilities { self.inner.capabilities() }
    };
    (@ frames) => {
        fn alloc(&mut self, to: Option<weft_wire::Rank>) -> Option<crate::Buffer> {
            self.inner.alloc(to)
        }
        fn bytes(&self, buffer: crate::Buffer) -> std::ptr::NonNull<u8> { self.inner.bytes(buffer) }
        fn flush(&mut self) { self.inner.flush(); }
        fn has_arrivals(&mut self) -> bool { self.inner.has_arrivals() }
        fn copy_out(&self, buffer: crate::Buffer, into: &mut [u8]) {
            self.inner.copy_out(buffer, into);
        }
        fn free(&mut self, buffer: crate::Buffer) { self.inner.free(buffer); }
        fn shared_frames(&mut self) -> Option<&mut dyn crate::SharedFrames> {
            self.inner.shared_frames()
        }
        fn paths(&mut self) -> Option<&mut dyn crate::Paths> { self.inner.paths() }
    };
    (@ transmit) => {
        fn transmit(
            &mut self,
            to: weft_wire::Rank,
            header: &weft_wire::Header,
            payload: crate::Payload,
        ) {
            self.inner.transmit(to, header, payload);
        }
    };
    (@ receive) => {
        fn receive(&mut self) -> Result<Option<crate::Received>, crate::LinkViolation> {
            self.inner.receive()
        }
    };
    (@ services) => {
        fn services(&self) -> crate::Services { self.inner.services() }
    };
    (@ memory) => {
        fn lending(&mut self) -> Option<&mut dyn crate::memory::Lending> { self.inner.lending() }
        fn posting(&mut self) -> Option<&mut dyn crate::memory::Posting> { self.inner.posting() }
        fn zero_copy(&mut self) -> Option<&mut dyn crate::memory::ZeroCopy> {
            self.inner.zero_copy()
        }
    };
    // Wrappers that look at each packet have all bytes in frames.
    (@ no_memory) => {
        crate::no_program_memory!();
    };
}
pub(crate) use delegate;

/// Makes wrappers known as such, for what they pass through.
macro_rules! wrapper {
    ($name:ident) => {
        impl<L: crate::Link> crate::wrap::Wrapper for $name<L> {
            type Inner = L;
            #[inline(always)]
            fn inner(&self) -> &L {
                &self.inner
            }
            #[inline(always)]
            fn inner_mut(&mut self) -> &mut L {
                &mut self.inner
            }
        }
    };
}
pub(crate) use wrapper;

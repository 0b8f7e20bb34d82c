//! Trace of a rank: spans of time that it names, and events that no packet tells of.

use crate::Rank;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_trace::event::MANY_UNEXPECTED;
use weft_trace::{NamedThing, Recorder, What, record_text};

/// Trace of a rank, which its systems and its program write. Nothing is written, and next to no
/// time is spent, if the run is not traced.
#[derive(Clone)]
pub struct Trace(Option<Arc<Tracing>>);

/// Recorder of a traced rank, and the names of spans that it has.
struct Tracing {
    recorder: Arc<dyn Recorder>,
    /// Numbers of the names that are written down.
    named: Mutex<BTreeSet<u32>>,
    /// Number of handlers that had threads of their own.
    popups: AtomicU64,
}

impl Tracing {
    /// The number of a name, which is written down with its first span.
    fn number_of(&self, name: &str) -> u32 {
        let number = number_of(name);
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.insert(number) {
            record_text(&*self.recorder, NamedThing::Span, number, name);
        }
        number
    }
}

/// A number that stands for a name.
fn number_of(name: impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() as u32
}

/// Span of time with a name, which lasts until this is dropped.
#[must_use = "a span ends when it is dropped"]
pub struct Span {
    tracing: Arc<Tracing>,
    end: What,
}

impl Drop for Span {
    fn drop(&mut self) {
        self.tracing.recorder.record(&self.end);
    }
}

impl Trace {
    pub(crate) fn new(recorder: Option<Arc<dyn Recorder>>) -> Self {
        let (named, popups) = (Mutex::default(), AtomicU64::new(0));
        Trace(recorder.map(|recorder| Arc::new(Tracing { recorder, named, popups })))
    }

    /// Begins a span of time, which the trace of the run shows under this name; `None`, and next
    /// to no time, if the run is not traced. A rank has as many names as it likes, but each costs
    /// it memory. Spans of a thread lie one in another.
    #[inline]
    pub fn span(&self, name: &str) -> Option<Span> {
        let tracing = self.0.as_ref()?;
        let end = What::SpanEnds(self.begin_span(name));
        Some(Span { tracing: Arc::clone(tracing), end })
    }

    /// Begins a handler of the port with this number, which lasts as spans do.
    #[inline]
    pub fn handler_span(&self, port: u32) -> Option<Span> {
        let tracing = self.0.as_ref()?;
        tracing.recorder.record(&What::HandlerBegins(port));
        Some(Span { tracing: Arc::clone(tracing), end: What::HandlerEnds(port) })
    }

    /// A handler of the port with this number goes on, which has waited; until it ends, or waits
    /// again.
    #[inline]
    pub fn resumed_handler_span(&self, port: u32) -> Option<Span> {
        let tracing = self.0.as_ref()?;
        tracing.recorder.record(&What::HandlerGoesOn(port));
        Some(Span { tracing: Arc::clone(tracing), end: What::HandlerEnds(port) })
    }

    /// Begins a handler of the port with this number, in a thread of its own.
    pub fn popup_span(&self, port: u32) -> Option<Span> {
        let tracing = self.0.as_ref()?;
        let run = tracing.popups.fetch_add(1, Ordering::Relaxed);
        tracing.recorder.record(&What::PopupBegins { port, run });
        Some(Span { tracing: Arc::clone(tracing), end: What::PopupEnds { port, run } })
    }

    /// Names an order. Returns its number for [`Self::record_submitted`] and
    /// [`Self::record_delivered`], the same on all ranks.
    pub fn name_order(&self, name: &str) -> u32 {
        let number = number_of(name);
        if let Some(tracing) = &self.0 {
            record_text(&*tracing.recorder, NamedThing::Order, number, name);
        }
        number
    }

    /// Notes that this rank has sent an ordered broadcast, with its number in the order.
    #[inline]
    pub fn record_submitted(&self, order: u32, number: u64) {
        self.note(|| What::Submitted { order, number });
    }

    /// Notes that a message of an order, which `from` sent, was handed over.
    #[inline]
    pub fn record_delivered(&self, order: u32, number: u64, from: Rank) {
        self.note(|| What::Delivered { order, number, from });
    }

    /// Notes a copy into memory of another rank, without a packet.
    #[inline]
    pub(crate) fn record_put(&self, to: Rank, bytes: usize) {
        self.note(|| What::Put { to, bytes: bytes as u64 });
    }

    /// Notes a copy out of memory of another rank, without a packet.
    #[inline]
    pub(crate) fn record_got(&self, from: Rank, bytes: usize) {
        self.note(|| What::Got { from, bytes: bytes as u64 });
    }

    #[inline]
    fn note(&self, what: impl FnOnce() -> What) {
        if let Some(tracing) = &self.0 {
            tracing.recorder.record(&what());
        }
    }

    /// Names the port with this number.
    pub fn name_port(&self, port: u32, name: &str) {
        if let Some(tracing) = &self.0 {
            record_text(&*tracing.recorder, NamedThing::Port, port, name);
        }
    }

    /// True if the run is traced.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Does what [`Self::span`] does, for bindings to languages where nothing is dropped: returns
    /// the number of the name, for [`Self::end_span`].
    pub fn begin_span(&self, name: &str) -> u32 {
        self.0.as_ref().map_or(0, |tracing| {
            let number = tracing.number_of(name);
            tracing.recorder.record(&What::SpanBegins(number));
            number
        })
    }

    /// Ends the span of this number which began last.
    pub fn end_span(&self, number: u32) {
        if let Some(tracing) = &self.0 {
            tracing.recorder.record(&What::SpanEnds(number));
        }
    }

    /// Notes that this rank has come to a meeting, which all its members know by this name: one
    /// through shared memory, of which no packet tells.
    pub fn record_meeting(&self, name: impl Hash) {
        if let Some(tracing) = &self.0 {
            tracing.recorder.record(&What::Meets(number_of(name)));
        }
    }

    /// Notes that so many messages are here that no receive wants yet: those of a system whose
    /// receives choose among messages. Written down when it is a power of two, and many.
    #[inline]
    pub fn record_unexpected(&self, messages: usize) {
        let Some(tracing) = &self.0 else { return };
        let messages = u32::try_from(messages).unwrap_or(u32::MAX);
        if messages >= MANY_UNEXPECTED && messages.is_power_of_two() {
            tracing.recorder.record(&What::Unexpected(messages));
        }
    }

    /// Does what [`Self::span`] does, with a name that is made only if the run is traced.
    #[inline]
    pub fn span_of(&self, name: impl FnOnce() -> String) -> Option<Span> {
        self.0.as_ref().and_then(|_| self.span(&name()))
    }
}

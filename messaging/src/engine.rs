//! The engine: what a program has of its rank's messages.

use crate::arrived;
use crate::error::{Error, Result};
use crate::machine::Counters;
use crate::messages::Messages;
use crate::poll::Poller;
use crate::reports::Reports;
use crate::sharing::Sharing;
use crate::sleep::{Sleep, within};
use crate::statistics::Statistics;
use crate::wait::Polls;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft_endpoint::{Awaited, Packets, Rank, Whom};

/// The messages of one rank.
pub struct Engine {
    pub(crate) messages: Arc<Messages>,
    pub(crate) sharing: Sharing,
    reports: Reports,
    /// Functions by which a thread forgets the handles that it keeps.
    forgetting: Mutex<Vec<fn()>>,
    /// True once the program has ended, and others are waited for.
    is_leaving: AtomicBool,
}

impl Engine {
    /// Messages over `packets`, whose packets are all its own from here on.
    pub fn new(packets: Packets) -> Arc<Self> {
        Arc::new(Engine {
            messages: Messages::new(&packets, progress_below),
            sharing: Sharing::default(),
            reports: Reports::default(),
            forgetting: Mutex::new(vec![arrived::forget]),
            is_leaving: AtomicBool::new(false),
        })
    }

    /// The packets below.
    #[inline]
    pub fn packets(&self) -> &Packets {
        &self.messages.packets
    }

    /// Lines about what systems of this rank did.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Lets threads keep handles to this engine between messages, until its owner calls
    /// [`Self::close`]: it must.
    pub fn will_be_closed(&self) {
        self.messages.set_caching(self.packets().has_threads());
    }

    /// Takes packets from the network and runs handlers and tasks. True if anything happened.
    /// What a rank does when it polls.
    ///
    /// # Errors
    /// A lost rank, a peer that broke the format, or a handler that panicked.
    pub fn progress(&self) -> Result<bool> {
        Poller::new(&self.messages).progress()
    }

    /// Makes progress on behalf of a rank that was interrupted, as long as interrupts are on. An
    /// error is returned to the next caller, too.
    pub fn interrupted(&self) {
        let poller = Poller::new(&self.messages);
        self.packets().interrupted(|| poller.advance().unwrap_or(false));
    }

    /// Makes progress until `done` says so. It is asked after each packet, and by nothing else:
    /// what it looks at is changed by handlers of this rank.
    ///
    /// # Errors
    /// Those of [`Self::progress`].
    pub fn poll_until(&self, mut done: impl FnMut() -> bool) -> Result<()> {
        let what = || Awaited::new("what a handler is to do", Whom::Anyone);
        Poller::new(&self.messages).wait_for(&what, |_| Ok(done().then_some(())))
    }

    /// Runs `future` to its end on this thread, which polls meanwhile, or waits for who does.
    ///
    /// # Errors
    /// Those of [`Self::progress`]; the future is dropped then.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> Result<T> {
        self.block_on_for(&|| Awaited::of_unknown("a future"), future)
    }

    /// Does what [`Self::block_on`] does; others get to know `what` this rank waits for.
    ///
    /// # Errors
    /// Those of [`Self::block_on`].
    pub fn block_on_for<T>(
        &self,
        what: &dyn Fn() -> Awaited,
        future: impl Future<Output = T>,
    ) -> Result<T> {
        Poller::new(&self.messages).block_on(what, future)
    }

    /// Runs `future` when somebody polls: now and then until it ends. Tasks of a rank run one at a
    /// time on each thread that polls; they may wait for anything of Weft's, and for each other.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.messages.tasks.spawn(future);
    }

    /// Waits for `time`.
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        Sleep::new(&self.messages, time)
    }

    /// Result of `future`, or [`Error::TimedOut`] after `time`.
    ///
    /// # Errors
    /// [`Error::TimedOut`]; the future is dropped then.
    pub async fn within<T>(&self, time: Duration, future: impl Future<Output = T>) -> Result<T> {
        within(&self.messages, time, future).await
    }

    /// Makes all threads equal, for good: see [`Packets::share`]. For programs that send and
    /// receive in several threads (thesis 6.2.1).
    pub fn share(&self) {
        self.packets().share();
        self.messages.state.share();
        self.messages.threads.share();
        self.messages.numbers.share();
        self.sharing.share();
    }

    /// Makes progress until every message sent from here has left this rank.
    ///
    /// # Errors
    /// Those of [`Self::progress`].
    pub fn flush(&self) -> Result<()> {
        let Messages { packets, state, numbers, .. } = &*self.messages;
        let what = || Awaited::of_unknown("what it has sent to leave");
        Poller::new(&self.messages).watch_for(&what, || {
            let owes_nothing = state.enter().machine.owed.is_empty() && !numbers.are_wanted();
            Ok(owes_nothing && packets.is_flushed())
        })
    }

    /// Notes that the program has ended, and others are waited for.
    pub(crate) fn set_leaving(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    /// True once the program has ended.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }

    /// Has `forget` called by the thread that closes this: for a type to which threads keep
    /// handles.
    pub(crate) fn on_close(&self, forget: fn()) {
        self.forgetting.lock().unwrap_or_else(PoisonError::into_inner).push(forget);
    }

    /// Ends tasks, timers and waits, which would keep this rank alive. Its owner calls it last.
    pub fn close(&self) {
        self.messages.close();
        let forgetting = self.forgetting.lock().unwrap_or_else(PoisonError::into_inner).clone();
        forgetting.into_iter().for_each(|forget| forget());
    }

    /// Checks that no messages wait for ports that this rank has never created.
    ///
    /// # Errors
    /// [`Error::Unclaimed`].
    pub fn check_unclaimed(&self) -> Result<()> {
        match self.messages.state.enter().dispatch.unclaimed() {
            None => Ok(()),
            Some((from, messages)) => Err(Error::Unclaimed { from, messages }),
        }
    }

    /// Names a peer that has sent what no rank sends: for systems on messages, whose handlers find
    /// that. This rank cannot go on ([`Error::Violation`]).
    pub fn name_violation(&self, from: Rank, system: &'static str, what: &'static str) {
        self.messages.fail(Error::Violation { from, system, what });
    }

    /// Counters of this layer and those below.
    pub fn statistics(&self) -> Statistics {
        let packets = self.packets().statistics();
        let state = self.messages.state.enter();
        let Counters { messages_sent, packets_copied_out, stalls, overdrafts, requests } =
            state.machine.counters;
        Statistics {
            messages_sent,
            messages_received: self.messages.counts.received(),
            packets_copied_out,
            packets_unread: state.machine.unread(),
            bytes_copied_out: state.machine.copied_bytes() as u64,
            stalls,
            overdrafts,
            requests,
            continuations: state.dispatch.continuations,
            packets,
        }
    }
}

/// Makes progress for a thread that waits for something below messages. Errors above are left to
/// callers that can hear of them.
fn progress_below(messages: &Arc<Messages>) -> weft_endpoint::Result<bool> {
    match Poller::new(messages).advance() {
        Err(Error::Packet(error)) => Err(error),
        Err(_) => Ok(false),
        Ok(any) => Ok(any),
    }
}

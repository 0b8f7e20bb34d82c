//! A rank's place in its job, with messages.

use crate::Result;
use crate::backend::{Backend, Guard};
use crate::statistics::{Statistics, lines, table::Table};
use bytemuck::Pod;
use std::fmt::Write;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use weft_endpoint::{Atomic, Group, InterruptsOff, Loss, Packets, Rank, Span, Variable};
use weft_messaging::collective::{Max, Reduction, Team};
use weft_messaging::rpc::{Client, Request, Rpc, Service};
use weft_messaging::{
    Barrier, Engine, Mailbox, Message, Order, OrderMailbox, OrderedMessage, Orders, Port,
};

mod growing;

/// A rank's place in its job. Clones are handles to the same place, for any thread.
#[derive(Clone)]
pub struct Weft {
    job: Arc<Job>,
}

struct Job {
    // Dropped first: the upcall thread uses the rest.
    _watch: Guard,
    barrier: Barrier,
    orders: Orders,
    rpc: Arc<Rpc>,
    engine: Arc<Engine>,
    packets: Packets,
    backend: Box<dyn Backend>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.engine.close();
    }
}

/// Ends this process if its job has lost a rank, and does not go on.
pub(crate) fn end_if_lost(weft: &Weft) {
    weft.job.backend.end_if_lost();
}

impl Weft {
    /// Messages over `packets`, for a rank whose job is what `backend` says.
    ///
    /// # Errors
    /// What [`Backend::begin`] says.
    #[doc(hidden)]
    pub fn assemble(packets: Packets, backend: Box<dyn Backend>) -> Result<Self> {
        let engine = Engine::new(packets.clone());
        engine.will_be_closed();
        if backend.wants_statistics() {
            engine.reports().want();
        }
        let barrier = Barrier::new(&engine)?;
        let orders = Orders::new(&engine);
        let rpc = Rpc::new(&engine)?;
        let interrupted = Arc::downgrade(&engine);
        let watch = backend.begin(Box::new(move || {
            if let Some(engine) = interrupted.upgrade() {
                engine.interrupted();
            }
        }))?;
        let spawner = backend.spawner();
        let job = Job { _watch: watch, barrier, orders, rpc, engine, packets, backend };
        if let Some(spawner) = spawner {
            job.barrier.come(spawner).inspect_err(|error| {
                if *error == weft_messaging::Error::Withdrawn {
                    job.backend.end_unneeded();
                }
            })?;
        }
        Ok(Weft { job: Arc::new(job) })
    }

    /// This rank.
    pub fn rank(&self) -> Rank {
        self.packets().rank()
    }

    /// Ranks that the job began with: all there are, unless it [grows](Self::grow).
    pub fn size(&self) -> usize {
        self.packets().size()
    }

    /// Ranks that the job has at most: see [`Self::grow`].
    pub fn room(&self) -> usize {
        self.packets().room()
    }

    /// All ranks that the job began with.
    pub fn ranks(&self) -> impl DoubleEndedIterator<Item = Rank> + ExactSizeIterator + use<> {
        (0..self.size() as u16).map(Rank)
    }

    /// Creates a port whose messages `handler` gets, one at a time: see [`Port::new`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn port(&self, name: &str, handler: impl FnMut(Message) + Send + 'static) -> Result<Port> {
        Ok(Port::new(&self.job.engine, name, handler)?)
    }

    /// The port `name` of other ranks, to send there and not to receive; handlers send through it,
    /// also to the port that is theirs: see [`Port::sender`].
    ///
    /// # Errors
    /// The name collides with another.
    pub fn sender(&self, name: &str) -> Result<Port> {
        Ok(Port::sender(&self.job.engine, name)?)
    }

    /// Polls until `done` says so: spins, yields, then sleeps in between. It is asked after each
    /// packet, so that it should look at what handlers of this rank change.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub fn poll_until(&self, done: impl FnMut() -> bool) -> Result<()> {
        Ok(self.job.engine.poll_until(done)?)
    }

    /// Creates a port whose handler may wait, and goes on as a continuation then: see
    /// [`Port::with_async`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn async_port<R>(
        &self,
        name: &str,
        handler: impl FnMut(Message) -> R + Send + 'static,
    ) -> Result<Port>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Ok(Port::with_async(&self.job.engine, name, handler)?)
    }

    /// Creates a port whose handlers may wait and run concurrently then, which gives up order: see
    /// [`Port::concurrent`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn concurrent_port<R>(
        &self,
        name: &str,
        handler: impl FnMut(Message) -> R + Send + 'static,
    ) -> Result<Port>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Ok(Port::concurrent(&self.job.engine, name, handler)?)
    }

    /// Creates a port whose handler runs on a thread of its own for each message, and may block it:
    /// see [`Port::popup`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn popup_port(
        &self,
        name: &str,
        handler: impl Fn(Message) + Send + Sync + 'static,
    ) -> Result<Port> {
        Ok(Port::popup(&self.job.engine, name, handler)?)
    }

    /// Creates a port whose messages are asked for.
    ///
    /// # Errors
    /// The name is taken.
    pub fn mailbox(&self, name: &str) -> Result<Mailbox> {
        Ok(Mailbox::new(&self.job.engine, name)?)
    }

    /// Creates a totally-ordered broadcast among all ranks, whose messages `handler` gets: see
    /// [`Orders::order`]. All ranks create the same orders in the same order.
    ///
    /// # Errors
    /// The name is taken, or there are too many orders.
    pub fn order(
        &self,
        name: &str,
        handler: impl FnMut(OrderedMessage) + Send + 'static,
    ) -> Result<Order> {
        Ok(self.job.orders.order(name, handler)?)
    }

    /// Creates a totally-ordered broadcast among all ranks, whose handler may wait: see
    /// [`Orders::order_async`].
    ///
    /// # Errors
    /// Those of [`Self::order`].
    pub fn order_async<R>(
        &self,
        name: &str,
        handler: impl FnMut(OrderedMessage) -> R + Send + 'static,
    ) -> Result<Order>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Ok(self.job.orders.order_async(name, handler)?)
    }

    /// Creates a totally-ordered broadcast among all ranks, whose messages are asked for.
    ///
    /// # Errors
    /// Those of [`Self::order`].
    pub fn order_mailbox(&self, name: &str) -> Result<OrderMailbox> {
        Ok(self.job.orders.mailbox(name)?)
    }

    /// Creates a service whose requests `handler` gets, one at a time: see [`Service::new`]. Traits
    /// with `#[weft::service]` are the typed way.
    ///
    /// # Errors
    /// The name is taken.
    pub fn service(
        &self,
        name: &str,
        handler: impl FnMut(Request) + Send + 'static,
    ) -> Result<Service> {
        Ok(Service::new(&self.job.rpc, name, handler)?)
    }

    /// Creates a service whose handler may wait; the next request waits with it: see
    /// [`Service::with_async`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn async_service<R>(
        &self,
        name: &str,
        handler: impl FnMut(Request) -> R + Send + 'static,
    ) -> Result<Service>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Ok(Service::with_async(&self.job.rpc, name, handler)?)
    }

    /// Creates a service whose handlers may wait and run concurrently then: see
    /// [`Service::concurrent`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn concurrent_service<R>(
        &self,
        name: &str,
        handler: impl FnMut(Request) -> R + Send + 'static,
    ) -> Result<Service>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Ok(Service::concurrent(&self.job.rpc, name, handler)?)
    }

    /// Creates a service whose handler runs on a thread of its own for each request: see
    /// [`Service::popup`].
    ///
    /// # Errors
    /// The name is taken.
    pub fn popup_service(
        &self,
        name: &str,
        handler: impl Fn(Request) + Send + Sync + 'static,
    ) -> Result<Service> {
        Ok(Service::popup(&self.job.rpc, name, handler)?)
    }

    /// A client of the service `name`, at any rank: see [`Client::new`].
    ///
    /// # Errors
    /// The name collides with another.
    pub fn client(&self, name: &str) -> Result<Client> {
        Ok(Client::new(&self.job.rpc, name)?)
    }

    /// Totally-ordered broadcasts of this rank, for the systems that stand on messages, objects
    /// among them.
    pub fn orders(&self) -> &Orders {
        &self.job.orders
    }

    /// Remote procedure calls of this rank, for the same.
    pub fn rpc(&self) -> &Arc<Rpc> {
        &self.job.rpc
    }

    /// Returns when all ranks have called it as often as this one. Handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    pub fn barrier(&self) -> Result<()> {
        Ok(self.job.barrier.wait()?)
    }

    /// The team of all ranks that the job began with, for collective operations; at a rank that
    /// came later the team that has [grown](Self::grow) by it.
    pub fn everyone(&self) -> &Team {
        self.job.barrier.team()
    }

    /// The team of `members`, in this order; `None` if this rank is not one of them. All ranks make
    /// the same teams in the same order, with [groups](Self::group) among them.
    ///
    /// # Errors
    /// `members` is no set of ranks of this job.
    pub fn team(&self, members: &[Rank]) -> Result<Option<Team>> {
        Ok(self.everyone().part(members)?)
    }

    /// Gives all ranks the `values` of rank `root`: see [`Team::broadcast`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn broadcast<T: Pod + Send>(&self, root: usize, values: &mut [T]) -> Result<()> {
        Ok(self.everyone().broadcast(root, values)?)
    }

    /// Combines the `values` of all ranks at rank `root`: see [`Team::reduce`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn reduce<T: Pod + Send>(
        &self,
        root: usize,
        values: &mut [T],
        reduction: impl Reduction<T>,
    ) -> Result<()> {
        Ok(self.everyone().reduce(root, values, reduction)?)
    }

    /// Combines the `values` of all ranks at each: see [`Team::all_reduce`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn all_reduce<T: Pod + Send>(
        &self,
        values: &mut [T],
        reduction: impl Reduction<T>,
    ) -> Result<()> {
        Ok(self.everyone().all_reduce(values, reduction)?)
    }

    /// Brings the `values` of all ranks to rank `root`: see [`Team::gather`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn gather<T: Pod + Send>(&self, root: usize, values: &[T]) -> Result<Option<Vec<T>>> {
        Ok(self.everyone().gather(root, values)?)
    }

    /// Gives each rank its part of the `values` of rank `root`: see [`Team::scatter`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn scatter<T: Pod + Send>(
        &self,
        root: usize,
        values: Option<&[T]>,
        into: &mut [T],
    ) -> Result<()> {
        Ok(self.everyone().scatter(root, values, into)?)
    }

    /// Brings the `values` of all ranks to each: see [`Team::all_gather`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn all_gather<T: Pod + Send>(&self, values: &[T]) -> Result<Vec<T>> {
        Ok(self.everyone().all_gather(values)?)
    }

    /// Gives each rank its part of the `values` of each: see [`Team::all_to_all`].
    ///
    /// # Errors
    /// As for all operations of a [`Team`].
    pub fn all_to_all<T: Pod + Send>(&self, values: &[T]) -> Result<Vec<T>> {
        Ok(self.everyone().all_to_all(values)?)
    }

    /// Takes what has arrived and runs handlers. Says whether anything happened; never blocks.
    ///
    /// # Errors
    /// A lost rank.
    pub fn poll(&self) -> Result<bool> {
        Ok(self.job.engine.progress()?)
    }

    /// Runs `future` while this rank waits or polls, beside handlers. It needs no executor, and may
    /// wait for anything of Weft's.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.job.engine.spawn(future);
    }

    /// Runs `future` to its end on this thread, polling meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> Result<T> {
        Ok(self.job.engine.block_on(future)?)
    }

    /// Waits for `time`, by the clock of [`Self::now`], as a future.
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.job.engine.sleep(time)
    }

    /// Result of `future`, if it returns within `time`.
    ///
    /// # Errors
    /// [`weft_messaging::Error::TimedOut`].
    pub async fn within<T>(&self, time: Duration, future: impl Future<Output = T>) -> Result<T> {
        Ok(self.job.engine.within(time, future).await?)
    }

    /// Says that several threads of this program send and receive (thesis 6.2.1). Until then all
    /// may as well, but the one that joined enters for free and the others pay for it; from here on
    /// each pays for an ordinary lock.
    pub fn share_among_threads(&self) {
        self.job.engine.share();
    }

    /// The messages below the facade.
    #[doc(hidden)]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.job.engine
    }

    /// Creates a multicast group: see [`Packets::group`].
    ///
    /// # Errors
    /// `members` is no set of ranks of this job.
    pub fn group(&self, members: &[Rank]) -> Result<Group> {
        Ok(self.packets().group(members)?)
    }

    /// Adds to a shared counter and returns what it held before: see [`Packets::fetch_and_add`].
    ///
    /// # Errors
    /// There is no such variable (programs have 0 to 64,511 at each rank), or a rank was lost.
    #[inline(always)]
    pub fn fetch_and_add(&self, variable: Variable, amount: u64) -> Result<u64> {
        let added = variable.check().and_then(|()| self.packets().fetch_and_add(variable, amount));
        Ok(added?)
    }

    /// Does any atomic operation on a shared variable, a compare-and-swap for example, and returns
    /// what it held before: see [`Packets::atomic`].
    ///
    /// # Errors
    /// Those of [`Self::fetch_and_add`].
    pub fn atomic(&self, variable: Variable, operation: Atomic) -> Result<u64> {
        variable.check()?;
        Ok(self.packets().atomic(variable, operation)?)
    }

    /// Keeps interrupts off while the guard lives: handlers run only when this rank waits or polls.
    pub fn interrupts_off(&self) -> InterruptsOff<'_> {
        self.packets().interrupts_off()
    }

    /// The time since some point in the past: see [`Packets::now`]. What programs time themselves
    /// by, so that they do it in virtual time where they are simulated.
    pub fn now(&self) -> Duration {
        self.packets().now()
    }

    /// Declares computation: see [`Packets::work`].
    #[inline]
    pub fn work(&self, operations: u64) {
        self.packets().work(operations);
    }

    /// Begins a span of time, which a trace of the run (`weft run --trace`) shows under this name
    /// until the result is dropped: `let _span = weft.span("solve");`. In a run that is not traced
    /// it is `None`, and takes no time.
    #[inline]
    pub fn span(&self, name: &str) -> Option<Span> {
        self.packets().trace().span(name)
    }

    /// Counters of this rank since it joined.
    pub fn statistics(&self) -> Statistics {
        let messaging = self.job.engine.statistics();
        let protocol = messaging.packets.protocol;
        Statistics {
            messages_sent: messaging.messages_sent,
            messages_received: messaging.messages_received,
            packets_sent: protocol.packets_sent,
            packets_received: protocol.packets_received,
            bytes_sent: protocol.bytes_sent,
            bytes_received: protocol.bytes_received,
            blocked_sends: protocol.blocked_sends,
            explicit_credits: protocol.explicit_credits,
            packets_copied_out: messaging.packets_copied_out,
            packets_unread: messaging.packets_unread,
            bytes_copied_out: messaging.bytes_copied_out,
            stalls: messaging.stalls,
            requests: messaging.requests,
            overdrafts: messaging.overdrafts,
            continuations: messaging.continuations,
            interrupts: messaging.packets.interrupts,
            sleeps: messaging.packets.sleeps,
        }
    }

    /// Losses that this rank has heard of, the first one first, in a job that goes on after them
    /// (`weft run --on-loss continue`): [`Error::lost_rank`](crate::Error::lost_rank),
    /// [`Team::shrink`]. An error may tell of one before, of which another rank has heard.
    pub fn losses(&self) -> Vec<Loss> {
        self.packets().losses().all()
    }

    /// True if this job goes on after a loss.
    pub fn goes_on(&self) -> bool {
        self.packets().losses().goes_on()
    }

    /// The packet interface of this rank, beside messages: for packets of the program's own, and
    /// for the systems that stand on packets, regions and events among them.
    pub fn packets(&self) -> &Packets {
        &self.job.packets
    }

    /// Waits until all that this rank has sent has left it and all ranks leave, then tells the
    /// launcher that this one ended cleanly.
    ///
    /// # Errors
    /// A lost rank.
    pub fn leave(&self) -> Result<()> {
        // Ranks that came later are in no table.
        let has_begun = self.rank().index() < self.size();
        let report = match self.job.engine.reports().are_wanted() && has_begun {
            true => self.report()?,
            false => None,
        };
        self.job.barrier.leave()?;
        self.job.engine.check_unclaimed()?;
        if let Some(report) = report {
            // In one piece. Nobody may be there to read it.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), report.as_bytes());
        }
        self.job.backend.leave()
    }

    /// Lines about the objects of all ranks, and a table of what these did, at rank 0.
    #[cold]
    fn report(&self) -> Result<Option<String>> {
        let rank = self.rank();
        let mut own = String::new();
        for line in self.job.engine.reports().take() {
            let _ = writeln!(own, "rank {rank}: {line}");
        }
        let row = self.statistics().row();
        let mut bytes = lines::cut(own).into_bytes();
        let mut longest = [bytes.len() as u64];
        self.all_reduce(&mut longest, Max)?;
        bytes.resize(lines::room(longest[0]), 0);
        let (all, rows) = (self.gather(0, &bytes)?, self.gather(0, &[row])?);
        Ok(all.zip(rows).map(|(bytes, rows)| {
            let objects = String::from_utf8_lossy(&bytes).replace('\0', "");
            format!("{objects}{}", Table(rows))
        }))
    }
}

//! From a place in a job to a packet interface: membership, memory, node, upcall thread.

use crate::Result;
use crate::backend::{Backend, Guard};
use crate::network::{self, NetworkLink};
use crate::options::Options;
use crate::program::Outcome;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weft_endpoint::{Awaited, Loss, Node, Packets, Rank, Shape, Step, WatchThread};
use weft_launch::{Membership, OnLoss, PEER_LOST, SpawnError};
use weft_link::clock::SystemClock;
use weft_link::wrap::Traced;
use weft_link::{Link, LinkPart};
use weft_link_shm::{Settings, Shm, create_memory};
use weft_mixed::Mixed;

/// Time that the news of a lost rank may be behind what follows from the loss.
const NEWS_TAKE: Duration = Duration::from_millis(100);

/// Reason why shared memory runs careful presets only.
const NOTHING_IS_LOST: &str = "shared memory loses nothing, so nothing is ever sent again there; \
                               take nrx-imc or nrx-hmc";

type Interrupt = Box<dyn FnMut() + Send>;
type Lost = Box<dyn FnOnce(Loss) + Send>;

/// A rank's place in a job, up to the packet interface.
pub(crate) struct Session {
    packets: Packets,
    membership: Option<Arc<Membership>>,
    /// True if the ranks of this host have a core each.
    cores_suffice: bool,
    /// The ranks that are reached by shared memory.
    near: Vec<Rank>,
    loss_grace: Duration,
    statistics: bool,
    /// Starts the upcall thread.
    watch: Box<dyn Fn(Interrupt, Lost) -> std::io::Result<WatchThread> + Send + Sync>,
}

impl Session {
    /// Finds the job that this process was started in, or makes one of a single rank, and asks for
    /// this reaction to losses.
    pub fn open(on_loss: OnLoss) -> Result<Self> {
        Self::of(Membership::find(on_loss)?, on_loss)
    }

    /// Joins the job that has this door.
    pub fn open_at(door: &str, on_loss: OnLoss) -> Result<Self> {
        Self::of(Some(Membership::knock(door, on_loss)?), on_loss)
    }

    fn of(membership: Option<Membership>, on_loss: OnLoss) -> Result<Self> {
        let options = Options::read(membership.as_ref(), on_loss)?;
        match membership {
            Some(member) if member.network().is_some() => Session::on_network(member, &options),
            other => Session::on_host(other, &options),
        }
    }

    /// In a job whose ranks all share memory.
    fn on_host(mut membership: Option<Membership>, options: &Options) -> Result<Self> {
        let founders = membership.as_ref().map_or(1, Membership::founders);
        let (rank, settings, memory) = match &mut membership {
            Some(member) => (member.rank(), *member.settings(), member.take_memory()),
            None => (Rank(0), Settings::new(1), None),
        };
        let memory = memory.map_or_else(|| create_memory(&settings), Ok)?;
        let preset = options.preset.unwrap_or_default();
        if preset.retransmits() {
            return Err(options.refuse_preset(preset, NOTHING_IS_LOST));
        }
        let link = Shm::attach(rank, settings, &memory)?;
        let protocol = weft_endpoint::Settings {
            preset,
            // A multicast is written once for all readers: nobody needs to forward it.
            shape: options.shape.unwrap_or(Shape::Flat),
            checks_all: options.checks_all,
            founders,
            ..weft_endpoint::Settings::new(settings.ranks, settings.window_packets)
        };
        let policy = options.wait_policy(settings.ranks);
        let near = (0..settings.ranks).map(Rank).collect();
        // What is not traced is compiled without traces.
        Ok(match link.services().recorder {
            None => {
                let node = Node::new(rank, protocol, link, policy);
                Session::new(node, membership, options, (settings.ranks, near))
            }
            Some(recorder) => {
                let node = Node::new(rank, protocol, Traced::new(link, recorder), policy);
                Session::new(node, membership, options, (settings.ranks, near))
            }
        })
    }

    /// In a job of which some pairs of ranks share no memory.
    fn on_network(mut member: Membership, options: &Options) -> Result<Self> {
        match network::attach(&mut member, options)? {
            NetworkLink::Udp(link) => Session::on_link(member, options, *link),
            NetworkLink::BulkUdp(link) => Session::on_link(member, options, *link),
            #[cfg(feature = "xdp")]
            NetworkLink::Xdp(link) => Session::on_link(member, options, *link),
            #[cfg(feature = "xdp")]
            NetworkLink::BulkXdp(link) => Session::on_link(member, options, *link),
            NetworkLink::Fabric(link) => Session::on_link(member, options, *link),
        }
    }

    fn on_link<F: LinkPart<Clock = SystemClock>>(
        member: Membership,
        options: &Options,
        link: Mixed<Shm, F>,
    ) -> Result<Self> {
        let ranks_here = member.settings().ranks;
        let near = link.near_peers(member.rank());
        let protocol = network::settings(&member, options, link.capabilities())?;
        let node = Node::new(member.rank(), protocol, link, options.wait_policy(ranks_here));
        node.set_lossless(near.clone());
        // Trees that cross to each host once have ranks that forward.
        let is_far = options.all_far || options.goes_on;
        if let Some(network) = member.network().filter(|_| !is_far) {
            node.set_hosts(&network.hosts);
        }
        Ok(Session::new(node, Some(member), options, (ranks_here, near)))
    }

    fn new<L: Link>(
        node: Node<L>,
        membership: Option<Membership>,
        options: &Options,
        (ranks_here, near): (u16, Vec<Rank>),
    ) -> Self {
        let delay = options.interrupt_delay(ranks_here);
        let cores_suffice = options.cores_suffice(ranks_here);
        let node = Arc::new(node);
        let packets = Packets::new(Arc::clone(&node));
        if options.goes_on {
            packets.losses().go_on();
        }
        let watch = Box::new(move |interrupt: Interrupt, lost: Lost| {
            WatchThread::start(Arc::clone(&node), delay, interrupt, lost)
        });
        Session {
            packets,
            membership: membership.map(Arc::new),
            cores_suffice,
            near,
            loss_grace: options.loss_grace,
            statistics: options.statistics,
            watch,
        }
    }

    pub fn packets(&self) -> &Packets {
        &self.packets
    }
}

impl Backend for Session {
    /// Starts the upcall thread, which calls `interrupt` when the program does not poll, and tells
    /// the launcher that this rank takes part.
    fn begin(&self, interrupt: Box<dyn FnMut() + Send>) -> Result<Guard> {
        let (membership, grace) = (self.membership.clone(), self.loss_grace);
        let lost = move |loss: Loss| {
            std::thread::sleep(grace);
            end_as_victim(membership.as_deref(), loss);
        };
        let watch = (self.watch)(interrupt, Box::new(lost))?;
        if let Some(member) = &self.membership {
            member.joined()?;
        }
        Ok(Box::new(watch))
    }

    fn spawner(&self) -> Option<Rank> {
        self.membership.as_ref()?.spawner()
    }

    fn spawn(&self, count: u16) -> weft_messaging::Result<Vec<Rank>> {
        let Some(member) = &self.membership else {
            return Err(weft_messaging::Error::JobIsFull { asked: count, left: 0 });
        };
        member.spawn(count).map_err(|error| not_spawned(member, error))
    }

    fn admit(&self, most: u16) -> weft_messaging::Result<Vec<Rank>> {
        let member = self.membership.as_ref().ok_or(weft_messaging::Error::NoDoor)?;
        member.admit(most).map_err(|error| not_spawned(member, error))
    }

    fn end_unneeded(&self) {
        if let Some(member) = &self.membership {
            // If the launcher is gone too there is nobody to tell.
            let _ = member.leaving();
        }
        std::process::exit(0);
    }

    fn wants_statistics(&self) -> bool {
        self.statistics
    }

    fn leave(&self) -> Result<()> {
        self.packets.linger();
        if let Some(member) = &self.membership {
            member.leaving()?;
        }
        Ok(())
    }

    /// Ends this process: that a rank was lost, and not what followed from it, is what the launcher
    /// has to say. A rank may see what follows before it is told: another that was told has closed
    /// its buffers.
    fn end_if_lost(&self) {
        // Where the job goes on the program knows of losses, and its error is its own.
        if self.packets.losses().goes_on() {
            return;
        }
        let until = Instant::now() + NEWS_TAKE;
        loop {
            if let Some(loss) = self.packets.losses().first() {
                end_as_victim(self.membership.as_deref(), loss);
            }
            if self.packets.size() == 1 || Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn not_spawned(member: &Membership, error: SpawnError) -> weft_messaging::Error {
    use weft_messaging::Error::{JobIsFull, NoDoor, NotSpawned};
    match error {
        SpawnError::NoRoom { asked, left } => JobIsFull { asked, left },
        SpawnError::NoDoor => NoDoor,
        SpawnError::Launcher(_) => NotSpawned { by: member.rank() },
    }
}

fn end_as_victim(membership: Option<&Membership>, loss: Loss) {
    if let Some(member) = membership {
        // If the launcher is gone too there is nobody to tell.
        let _ = member.report_loss(loss);
    }
    std::process::exit(PEER_LOST.into());
}

/// A job at the packet interface: no ports, no messages.
pub struct PacketJob {
    // Before the session: the upcall thread uses it.
    _watch: Guard,
    session: Session,
}

/// Joins the job that this process was started in, at the packet interface. Set an upcall with
/// [`Packets::on_packet`], or [take](Packets::take) packets and say how by
/// [`System::progress_by`](weft_endpoint::System::progress_by); end with [`PacketJob::leave`].
///
/// # Errors
/// [`Error`](crate::Error) if this process cannot take its place.
pub fn join_packets() -> Result<PacketJob> {
    let session = Session::open(OnLoss::End)?;
    let packets = session.packets().clone();
    let watch = session
        .begin(Box::new(move || packets.interrupted(|| matches!(packets.progress(), Ok(true)))))?;
    Ok(PacketJob { _watch: watch, session })
}

impl PacketJob {
    /// The packet interface.
    pub fn packets(&self) -> &Packets {
        self.session.packets()
    }

    /// True if the ranks of this host have a core each.
    pub fn cores_suffice(&self) -> bool {
        self.session.cores_suffice
    }

    /// The ranks that are reached by shared memory.
    pub fn near_ranks(&self) -> &[Rank] {
        &self.session.near
    }

    /// A number that tells the job from others, of one rank too.
    pub fn number(&self) -> u32 {
        let drawn = || RandomState::new().build_hasher().finish() as u32;
        self.session.membership.as_ref().map_or_else(drawn, |member| member.job())
    }

    /// Ends this rank's part cleanly, once all its packets have left. All ranks must be done with
    /// it: packets for it are not read any more.
    ///
    /// # Errors
    /// The launcher is gone.
    pub fn leave(self) -> Result<()> {
        self.end()
    }

    /// Does what [`Self::leave`] does, for a library in a program that may speak with the process
    /// manager itself, as MPI libraries do, and that says then that this rank ends. A rank that
    /// takes none of the packets for it is waited for no longer than `limit`; that is said on
    /// standard error.
    ///
    /// # Errors
    /// The launcher is gone.
    pub fn leave_beside_others(self, limit: Duration) -> Result<()> {
        let packets = self.packets();
        let deadline = packets.now() + limit;
        let what = || Awaited::of_unknown("its last packets to be taken");
        packets.presence().wait_for(&what, Some(deadline), &mut || {
            let is_over = packets.is_flushed() || packets.now() >= deadline;
            Ok(if is_over { Step::Done } else { Step::of(packets.poll()?) })
        })?;
        if packets.is_flushed() {
            packets.linger();
        } else {
            eprintln!(
                "weft: rank {} leaves with packets under way that nobody has taken for {} s: does a rank stand still?",
                packets.rank(),
                limit.as_secs_f64()
            );
        }
        if let Some(member) = &self.session.membership {
            member.leaving_beside_others()?;
        }
        Ok(())
    }

    fn end(&self) -> Result<()> {
        self.packets().flush()?;
        self.session.leave()
    }
}

/// Does what [`run`](crate::run) does, at the packet interface: for the programs of systems that
/// need no messages. All ranks must be done with each other's packets when `program` returns.
pub fn run_packets<O: Outcome>(program: impl FnOnce(&Packets) -> O) -> ExitCode {
    let job = match join_packets() {
        Ok(job) => job,
        Err(error) => {
            error.say();
            return ExitCode::FAILURE;
        }
    };
    let error = match program(job.packets()).error() {
        None => job.end().err().map(|error| error.to_string()),
        failed => failed,
    };
    let Some(error) = error else { return ExitCode::SUCCESS };
    job.session.end_if_lost();
    eprintln!("weft: rank {}: {error}", job.packets().rank());
    ExitCode::FAILURE
}

//! From a place in a job to a packet interface: membership, memory, node, upcall thread.

use crate::place::{Guard, Place};
use crate::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use weft_launch::{Membership, PEER_LOST};
use weft_link_shm::{Settings, Shm, create_segments};
use weft_node::{Node, Preset, Shape, WaitPolicy, WatchThread, default_interrupt_delay};
use weft_packet::{Loss, Packets, Rank};

/// How long a program has to notice the loss of a rank by itself, through an error, before the
/// upcall thread ends it. A rank that is lost must be known, and survivors gone, within 100 ms.
const LOSS_GRACE: Duration = Duration::from_millis(25);

/// Why shared memory runs careful presets only.
const NOTHING_IS_LOST: &str = "shared memory loses nothing, so nothing is ever sent again there; \
                               take nrx-imc or nrx-hmc";

/// A rank's place in a job, up to the packet interface.
pub(crate) struct Session {
    packets: Packets,
    membership: Option<Arc<Membership>>,
    node: Arc<Node<Shm>>,
    delay: Duration,
}

impl Session {
    /// Finds the job that this process was started in, or makes one of a single rank.
    pub fn open() -> Result<Self> {
        let mut membership = Membership::find()?;
        if membership.as_ref().is_some_and(|member| member.network().is_some()) {
            let what = "this job needs a network, and this version has no link for one";
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, what).into());
        }
        let (rank, settings, segments) = match &mut membership {
            Some(member) => (member.rank(), *member.settings(), member.take_segments()),
            None => {
                let settings = Settings::new(1);
                (Rank(0), settings, create_segments(&settings)?)
            }
        };
        let options = Options::read(membership.as_ref())?;
        let link = Shm::attach(rank, settings, &segments)?;
        let protocol = weft_node::Settings {
            preset: options.preset,
            shape: options.shape,
            ..weft_node::Settings::new(settings.ranks, settings.window_packets)
        };
        let (ranks, cores) = (usize::from(settings.ranks), options.cores);
        let policy = WaitPolicy::for_ranks(ranks, cores);
        let delay = options.interrupt_delay.unwrap_or(default_interrupt_delay(ranks, cores));
        let node = Arc::new(Node::new(rank, protocol, link, policy));
        let packets = Packets::new(Arc::clone(&node) as Arc<_>);
        Ok(Session { packets, membership: membership.map(Arc::new), node, delay })
    }

    pub fn packets(&self) -> &Packets {
        &self.packets
    }
}

impl Place for Session {
    /// Starts the upcall thread, which calls `interrupt` when the program does not poll, and tells
    /// the launcher that this rank takes part.
    fn begin(&self, interrupt: Box<dyn FnMut() + Send>) -> Result<Guard> {
        let membership = self.membership.clone();
        let lost = move |loss: Loss| {
            std::thread::sleep(LOSS_GRACE);
            end_as_victim(membership.as_deref(), loss);
        };
        let watch = WatchThread::start(Arc::clone(&self.node), self.delay, interrupt, lost)?;
        if let Some(member) = &self.membership {
            member.joined()?;
        }
        Ok(Box::new(watch))
    }

    fn leave(&self) -> Result<()> {
        self.packets.linger();
        if let Some(member) = &self.membership {
            member.leaving()?;
        }
        Ok(())
    }

    /// Ends this process: that a rank was lost, and not what followed from it, is what the launcher
    /// has to say.
    fn end_if_lost(&self) {
        if let Some(loss) = self.packets.loss() {
            end_as_victim(self.membership.as_deref(), loss);
        }
    }
}

fn end_as_victim(membership: Option<&Membership>, loss: Loss) {
    if let Some(member) = membership {
        // If the launcher is gone too there is nobody to tell.
        let _ = member.report(&format!("rank {} {}", loss.rank, loss.cause));
    }
    std::process::exit(PEER_LOST.into());
}

/// What the launcher was told about the protocols.
struct Options {
    preset: Preset,
    shape: Shape,
    interrupt_delay: Option<Duration>,
    /// Cores that the job's ranks share on this host.
    cores: usize,
}

impl Options {
    fn read(membership: Option<&Membership>) -> Result<Self> {
        // Shared memory writes a multicast once for all readers: nobody needs to forward it.
        let mut options = Options {
            preset: Preset::default(),
            shape: Shape::Flat,
            interrupt_delay: None,
            cores: std::thread::available_parallelism()?.get(),
        };
        let Some(member) = membership else { return Ok(options) };
        let given = |name| member.options().get(name);
        if let Some(value) = given("preset") {
            options.preset = parse("preset", value)?;
            if options.preset.retransmits() {
                let (name, value) = ("preset", value.into());
                return Err(Error::Option { name, value, what: NOTHING_IS_LOST.into() });
            }
        }
        if let Some(value) = given("tree") {
            options.shape = parse("tree", value)?;
        }
        if let Some(value) = given("interrupt-delay-us") {
            let delay = Duration::from_micros(parse("interrupt-delay-us", value)?);
            options.interrupt_delay = Some(delay);
        }
        if let Some(value) = given("cores") {
            options.cores = parse("cores", value)?;
        }
        Ok(options)
    }
}

fn parse<T: std::str::FromStr>(name: &'static str, value: &str) -> Result<T>
where
    T::Err: std::fmt::Display,
{
    value.parse().map_err(|error: T::Err| Error::Option {
        name,
        value: value.into(),
        what: error.to_string(),
    })
}

/// A job at the packet interface: no ports, no messages.
pub struct PacketJob {
    // Before the session: the upcall thread uses it.
    _watch: Guard,
    session: Session,
}

/// Joins the job that this process was started in, at the packet interface. Set an upcall with
/// [`Packets::on_packet`]; end with [`PacketJob::leave`].
///
/// # Errors
/// [`Error`] if this process cannot take its place.
pub fn join_packets() -> Result<PacketJob> {
    let session = Session::open()?;
    let packets = session.packets().clone();
    let watch = session
        .begin(Box::new(move || packets.interrupted(|| matches!(packets.poll(), Ok(true)))))?;
    Ok(PacketJob { _watch: watch, session })
}

impl PacketJob {
    /// The packet interface.
    pub fn packets(&self) -> &Packets {
        self.session.packets()
    }

    /// Ends this rank's part cleanly, once all its packets have left. All ranks must be done with it:
    /// packets for it are not read any more.
    ///
    /// # Errors
    /// The launcher is gone.
    pub fn leave(self) -> Result<()> {
        self.packets().flush()?;
        self.session.leave()
    }
}

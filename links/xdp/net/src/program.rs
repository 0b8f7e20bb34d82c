//! The XDP program: loaded, told which socket is for whom, and asked what it counted.

use crate::host::XdpOptions;
use crate::kernel::put_on;
use aya::EbpfLoader;
use aya::maps::{HashMap, Map, MapData, PerCpuArray, XskMap};
use aya::programs::Xdp;
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};
use weft_wire::Rank;
use weft_xdp::{Attached, Interface, XdpError, hooks};

#[cfg(xdp_program)]
const OBJECT: Option<&[u8]> =
    Some(aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/weft.bpf.o")));
#[cfg(not(xdp_program))]
const OBJECT: Option<&[u8]> = None;

/// True if the XDP program was compiled, which takes clang when this is built.
pub(crate) fn is_built() -> bool {
    OBJECT.is_some()
}

/// From here on the program's keys are places of ranks on their hosts, not ranks.
const PLACES: u32 = 0x1_0000;

/// Counters of the program for frames of Weft's protocol; all others passed.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Given to the socket of a rank.
    pub taken: u64,
    /// Dropped: no frames of this version of Weft.
    pub foreign: u64,
    /// Dropped: for no rank of any job of this host.
    pub unclaimed: u64,
    /// Dropped: for a rank, but on another queue than its socket's.
    pub other_queue: u64,
}

/// Hooks of the kernel for a program: `XDP_FLAGS_DRV_MODE`, `XDP_FLAGS_SKB_MODE`.
const IN_DRIVER: u32 = 1 << 2;
const BEHIND_DRIVER: u32 = 1 << 1;

/// The program on an interface. It goes with this value and all copies of its link, or with the
/// processes that have them.
pub(crate) struct Program {
    ranks: HashMap<MapData, [u32; 2], u32>,
    sockets: XskMap<MapData>,
    counts: PerCpuArray<MapData, u64>,
    link: OwnedFd,
    pub attached: Attached,
    next_slot: u32,
}

impl Program {
    /// Loads the program and attaches it.
    pub fn attach(interface: &Interface, options: XdpOptions) -> Result<Self, XdpError> {
        let XdpOptions { ethertype, queue, hook } = options;
        let object = OBJECT.ok_or(XdpError::NotBuilt)?;
        let refused = |error: &dyn std::error::Error| XdpError::Program(chain(error));
        let ethertype = ethertype.to_be();
        let mut loaded = EbpfLoader::new()
            .btf(None)
            .override_global("ethertype", &ethertype, true)
            .override_global("queue", &queue, true)
            .load(object)
            .map_err(|error| refused(&error))?;
        let mut take = |name: &str| -> Result<Map, XdpError> {
            loaded.take_map(name).ok_or_else(|| XdpError::Program(format!("it has no map {name}")))
        };
        let ranks = HashMap::try_from(take("ranks")?).map_err(|error| refused(&error))?;
        let sockets = XskMap::try_from(take("sockets")?).map_err(|error| refused(&error))?;
        let counts = PerCpuArray::try_from(take("counts")?).map_err(|error| refused(&error))?;
        let program = loaded.program_mut("weft").map(<&mut Xdp>::try_from);
        let program = program.ok_or_else(|| XdpError::Program("it is not there".into()))?;
        let program = program.map_err(|error| refused(&error))?;
        program.load().map_err(|error| refused(&error))?;
        let hooks = hook.map_or_else(|| hooks(interface).to_vec(), |hook| vec![hook]);
        let (link, attached) = attach(program, interface, &hooks)?;
        Ok(Program { ranks, sockets, counts, link, attached, next_slot: 0 })
    }

    /// From here on `socket` gets the frames for this rank, and those for the ranks with this place
    /// on their hosts.
    pub fn add(
        &mut self,
        job: u32,
        rank: Rank,
        place: u16,
        socket: &OwnedFd,
    ) -> Result<(), XdpError> {
        let refused = |error: aya::maps::MapError| XdpError::Program(chain(&error));
        let slot = self.next_slot;
        self.sockets.set(slot, socket.as_fd(), 0).map_err(refused)?;
        for key in [u32::from(rank.0), PLACES | u32::from(place)] {
            self.ranks.insert([job, key], slot, 0).map_err(refused)?;
        }
        self.next_slot += 1;
        Ok(())
    }

    /// Descriptor that keeps the program on the interface.
    pub fn link(&self) -> &OwnedFd {
        &self.link
    }

    pub fn seen(&self) -> Result<Seen, XdpError> {
        let count = |index: u32| match self.counts.get(&index, 0) {
            Ok(each) => Ok(each.iter().sum()),
            Err(error) => Err(XdpError::Program(chain(&error))),
        };
        Ok(Seen {
            taken: count(0)?,
            foreign: count(1)?,
            unclaimed: count(2)?,
            other_queue: count(3)?,
        })
    }
}

/// Longest time that a program may stay whose job has ended: a child of a process that held it has
/// a copy of what keeps it, between its fork and its exec, and the kernel takes it off in a time of
/// its own.
const GOING: Duration = Duration::from_millis(200);

/// At the first of these hooks that lets it in.
fn attach(
    program: &Xdp,
    interface: &Interface,
    hooks: &[Attached],
) -> Result<(OwnedFd, Attached), XdpError> {
    let program = program.fd().map_err(|error| XdpError::Program(chain(&error)))?;
    let mut last = String::new();
    for &attached in hooks {
        let mode = match attached {
            Attached::Native => IN_DRIVER,
            Attached::Generic => BEHIND_DRIVER,
        };
        match put_on_patiently(program.as_fd(), interface.index(), mode) {
            Ok(link) => return Ok((link, attached)),
            Err(error) if is_taken(&error) => {
                return Err(XdpError::Taken(interface.name().into()));
            }
            Err(error) => last = error.to_string(),
        }
    }
    Err(XdpError::Program(format!("{} does not let it in: {last}", interface.name())))
}

/// Does [`put_on`] once the program that was there before is gone, if it is about to go.
fn put_on_patiently(program: BorrowedFd<'_>, interface: u32, mode: u32) -> io::Result<OwnedFd> {
    let deadline = Instant::now() + GOING;
    loop {
        match put_on(program, interface, mode) {
            Err(error) if is_taken(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::BUSY | Errno::EXIST))
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! Collective operations of all nodes: the engine of [`weft_collective`], with its packets beside
//! those of regions.
//!
//! All nodes are one team. The thread that calls an operation drives it, with no lock held while it
//! sends, and serves regions while it waits; handlers only place what comes. Nobody ends an
//! operation before all have begun it, broadcasts too: so values go straight to their place, and
//! since all operations climb the same tree, or send to all, whoever is sent to finds that ranks
//! disagree.

use super::{Error, Node, Regions, Result};
use bytemuck::Pod;
use weft_collective::format::{DECLARATION, Header, abort_packet};
use weft_collective::schedule::Area;
use weft_collective::{
    Abort, BARRIER, Disagreement, Members, Operation, OperationCall, OperationMemory, PacketEffect,
    Parked, Refused, RunFailure, Signature, Stage, TeamId, Teams, TransferBody, Transport, Tuning,
    awaited, combine_elements,
};
use weft_endpoint::{Group, Packets, Protocol, Rank, SendPacket};

/// All nodes.
const TEAM: TeamId = TeamId { leader: Rank(0), count: 0 };

/// Limits between algorithms.
const TUNING: Tuning = Tuning {
    exchange_members: 0,
    flat_members: 0,
    shared_out_bytes: 32 << 10,
    round_bytes: usize::MAX,
    round_packets: usize::MAX,
    synchronous_broadcasts: true,
};

/// A node's part in collective operations.
pub(super) struct Collectives {
    teams: Teams<Values, Vec<u8>>,
    /// True while a thread is in an operation.
    is_busy: bool,
    /// True if that operation may go on.
    resumes: bool,
}

/// Values that a node brings, and the result in their place.
struct Values(Vec<u8>);

/// Packets of operations on the packet layer.
struct Parts<'a>(&'a Packets);

impl Regions {
    /// `rgn_barrier`: returns when all ranks have called it as often as this one. Requests of
    /// others are served meanwhile, as in all operations of all ranks: they call the same ones in
    /// the same order, from one thread at a time.
    ///
    /// # Errors
    /// [`Error::Disagreement`], a peer's breach, a lost rank: in a job that goes on after losses,
    /// too, where operations of a team take the place of these.
    pub fn barrier(&self) -> Result<()> {
        self.node.operate(&BARRIER, &mut [], |_, _| ())
    }

    /// `rgn_bcast_send`, `rgn_bcast_recv`: gives all ranks the values of `root`. Returns when they
    /// are here, or have left.
    ///
    /// # Errors
    /// Those of [`Self::barrier`], and if there is no such rank.
    pub fn broadcast<T: Pod>(&self, root: Rank, values: &mut [T]) -> Result<()> {
        let ranks = self.node.packets.size();
        if root.index() >= ranks {
            return Err(weft_endpoint::Error::NoSuchRank { rank: root, ranks }.into());
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let (operation, root) = (Operation::Broadcast, root.index());
        let call = OperationCall { operation, root, count: bytes.len(), size: 1 };
        self.node.operate(&call, bytes, |_, _| ())
    }

    /// `rgn_reduce_*`: combines the values of all ranks, one by one, and gives all of them the
    /// result, which is the same at all, to the last bit, and in each run: `combine` is given
    /// values of ranks and results of `combine`, those of lower ranks first, in the order of a
    /// tree. After an error the values are what they were.
    ///
    /// # Errors
    /// Those of [`Self::barrier`].
    ///
    /// # Panics
    /// If `T` has no bytes.
    pub fn reduce<T: Pod>(&self, values: &mut [T], combine: impl Fn(T, T) -> T) -> Result<()> {
        let (count, size) = (values.len(), size_of::<T>());
        assert!(size > 0, "values to reduce have some bytes");
        let call = OperationCall { operation: Operation::AllReduce, root: 0, count, size };
        let bytes = bytemuck::cast_slice_mut(values);
        self.node.operate(&call, bytes, |before, after| combine_elements(before, after, &combine))
    }
}

impl Collectives {
    pub(super) fn new(packets: &Packets) -> Self {
        let mut teams = Teams::new(packets.rank(), TUNING, 0);
        if packets.rank().index() < packets.size() {
            // Nothing has come yet that could be a stranger's.
            let _ = teams.open(TEAM, Members::all(packets.size(), packets.rank()));
        }
        Collectives { teams, is_busy: false, resumes: false }
    }

    fn begin(&mut self, call: &OperationCall, bytes: &[u8]) -> std::result::Result<u32, Refused> {
        assert!(!self.is_busy, "one thread at a time takes part in what all ranks do");
        let number = self.teams.begin(TEAM, call, Values(bytes.to_vec()))?;
        (self.is_busy, self.resumes) = (true, true);
        Ok(number)
    }
}

impl Node {
    /// Takes part in an operation on `bytes`, which are the result afterwards. `combine` makes one
    /// block of two, in place of the second.
    fn operate(
        &self,
        call: &OperationCall,
        bytes: &mut [u8],
        mut combine: impl FnMut(&[u8], &mut [u8]),
    ) -> Result<()> {
        self.packets.check_founder("operations of all ranks on regions")?;
        let begun = self.collectives.enter().begin(call, bytes);
        let number = begun.map_err(|refused| self.refuse(self.packets.rank(), refused))?;
        let what = || {
            let all = Members::all(self.packets.size(), self.packets.rank());
            awaited(Protocol::REGIONS, TEAM, &all, (number, call.signature()))
        };
        // Who is lost takes part in none.
        let lost = || Some(Err(self.packets.losses().check().err()?.into()));
        let result =
            self.wait(&what, |node| node.resume(number, &mut combine).transpose().or_else(lost));
        self.collectives.enter().is_busy = false;
        bytes.copy_from_slice(&result??.0);
        self.packets.copied(2 * bytes.len());
        Ok(())
    }

    /// Goes on with an operation as far as can be, and returns its values if it is over.
    fn resume(
        &self,
        number: u32,
        combine: &mut impl FnMut(&[u8], &mut [u8]),
    ) -> Result<Option<Values>> {
        let mut here = self.collectives.enter();
        let taken = if here.resumes { here.teams.take(TEAM, number) } else { None };
        drop(here);
        let Some(mut job) = taken else { return Ok(None) };
        loop {
            match job.advance(&mut Parts(&self.packets)) {
                Ok(Stage::Combine) => job.run.combine(&job.memory, &mut *combine),
                Ok(Stage::Waiting) => {
                    let mut here = self.collectives.enter();
                    // For room only: what others send is noted as it comes.
                    here.resumes = job.run.has_to_transmit();
                    let Parked::Again(again) = here.teams.put(TEAM, number, job) else {
                        return Ok(None);
                    };
                    job = again;
                }
                Ok(Stage::Done) => {
                    self.collectives.enter().teams.end(TEAM, number);
                    return Ok(Some(job.memory));
                }
                Err(RunFailure::Transport(error)) => return Err(error.into()),
                Err(RunFailure::Violation { from, .. }) => {
                    self.break_off(Error::Packet(from));
                    return Err(Error::Packet(from));
                }
            }
        }
    }

    /// Handles a packet of a collective operation.
    pub(super) fn take_part(&self, from: Rank, packet: &[u8]) -> Result<()> {
        let ranks = self.packets.size();
        let parsed = Header::parse(packet).filter(|(header, _)| is_sound(header, ranks));
        let (_, values) = parsed.ok_or(Error::Packet(from))?;
        self.packets.copied(values.len());
        let mut here = self.collectives.enter();
        let refused = match here.teams.arrive(from, packet) {
            Ok(PacketEffect::None) => return Ok(()),
            Ok(PacketEffect::Resume(..)) => {
                here.resumes = true;
                return Ok(());
            }
            Ok(PacketEffect::Aborted(_, Abort::Disagreement(found)))
                if [found.one, found.other].iter().all(|(rank, _)| rank.index() < ranks) =>
            {
                here.teams.fail(TEAM, Abort::Disagreement(found));
                return Err(found.into());
            }
            Ok(PacketEffect::Aborted(..)) => return Err(Error::Packet(from)),
            Err(refused) => refused,
        };
        drop(here);
        Err(self.refuse(from, refused))
    }

    /// The error for which a call of this node, or a packet of `from`, is refused. If it is a
    /// disagreement, all others are told.
    fn refuse(&self, from: Rank, refused: Refused) -> Error {
        let found = match refused {
            Refused::Failed(Abort::Disagreement(found)) => return found.into(),
            // Of an operation that is over, as both have begun it: more than there is.
            Refused::Disagreement(found) if found.one.1 != found.other.1 => found,
            _ => return Error::Packet(from),
        };
        let (me, abort) = (self.packets.rank(), Abort::Disagreement(found));
        self.collectives.enter().teams.fail(TEAM, abort);
        self.break_off(found.into());
        let others = (0..self.packets.size() as u16).map(Rank).filter(|&rank| rank != me);
        others.for_each(|rank| self.outbox.packet(rank, abort_packet(TEAM, &abort).into()));
        // A rank that this does not reach is lost.
        let _ = self.outbox.flush();
        found.into()
    }
}

impl From<Disagreement> for Error {
    fn from(found: Disagreement) -> Self {
        let Disagreement { number, one, other } = found;
        Error::Disagreement { one: one.0, other: other.0, number }
    }
}

/// True if a node of a job of `ranks` may send this.
fn is_sound(header: &Header, ranks: usize) -> bool {
    let Signature { operation, root, .. } = header.signature;
    let known = match operation {
        Operation::Barrier | Operation::AllReduce => true,
        Operation::Broadcast => usize::from(root) < ranks,
        _ => false,
    };
    known && header.team == TEAM && header.step != DECLARATION
}

impl OperationMemory for Values {
    fn read(&self, _: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        take(&self.0[at..at + length]);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Does nothing: they are there already.
    fn copy(&mut self, _from: usize, _length: usize, _at: usize) {}
}

impl Parts<'_> {
    fn launch(
        &self,
        head: &[u8],
        body: &TransferBody<'_>,
        launch: impl FnOnce(SendPacket<'_>) -> weft_endpoint::Result<()>,
    ) -> weft_endpoint::Result<bool> {
        let Some(mut packet) = self.0.try_packet()? else { return Ok(false) };
        let mut filled = packet.put(head).map(drop);
        body.read(0, body.len(), &mut |bytes| {
            if filled.is_ok() {
                filled = packet.put(bytes).map(drop);
            }
        });
        filled?;
        self.0.copied(body.len());
        launch(packet)?;
        Ok(true)
    }
}

impl Transport for Parts<'_> {
    type Error = weft_endpoint::Error;

    fn payload(&self) -> usize {
        self.0.max_payload()
    }

    fn multicast_payload(&self) -> usize {
        self.0.max_payload().min(self.0.multicast_payload())
    }

    fn packets_at_once(&self) -> usize {
        usize::MAX
    }

    fn send(
        &mut self,
        to: Rank,
        head: &[u8],
        body: &TransferBody<'_>,
    ) -> weft_endpoint::Result<bool> {
        self.launch(head, body, |packet| packet.unicast(to))
    }

    fn multicast(
        &mut self,
        group: Group,
        head: &[u8],
        body: &TransferBody<'_>,
    ) -> weft_endpoint::Result<bool> {
        self.launch(head, body, |packet| packet.multicast(group))
    }
}

//! The packet layer: packets that are filled and read where they lie (thesis table 3.1).
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{Handle, HandleKind, free, given, put};
use crate::held::Held;
use crate::job::{Job, rank, state};
use crate::memory::{Bytes, RankList, User};
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use weft::{KeptPacket, Rank, SendPacket};

/// A packet to fill and send. One thread at a time uses it.
pub struct Packet(Handle<Filling>);

/// A packet that has arrived: the callback's until it returns, unless it is kept. One thread at a
/// time uses it.
pub struct Arrival<'a>(Handle<Arrived<'a>>);

/// A multicast group. Any thread may use it, several at once.
pub struct Group(Handle<Members>);

type Filling = Held<SendPacket<'static>>;
struct Members(weft::Group);

enum Arrived<'a> {
    InUpcall(weft::Packet<'a>),
    Kept { packet: KeptPacket, multicast: bool },
}

impl HandleKind for Filling {
    const MARK: u32 = 0x504b_5402;
    const NAME: &'static str = "packet to send";
}

impl HandleKind for Arrived<'_> {
    const MARK: u32 = 0x4152_5603;
    const NAME: &'static str = "packet that arrived";
}

impl HandleKind for Members {
    const MARK: u32 = 0x4752_5004;
    const NAME: &'static str = "group";
}

/// Callback for each packet that arrives. It runs on whatever thread polls or waits, or on Weft's
/// upcall thread if none does; one at a time. It may send, and must not wait for other packets. The
/// packet is valid until it returns, unless it keeps it.
pub type PacketCallback = Option<extern "C" fn(packet: &mut Arrival<'_>, user: User)>;

/// A packet that has arrived, as it lies in memory.
#[repr(C)]
pub struct View {
    /// Its bytes, valid as long as the packet.
    bytes: *const c_void,
    /// Number of bytes.
    length: usize,
    /// The rank that sent it.
    source: u32,
    /// True if it was sent to a group, or to all.
    multicast: bool,
}

/// The group that C points to.
pub(crate) fn members(group: Option<&Group>) -> Result<weft::Group, Failure> {
    Ok(given(group, "group")?.0.get()?.0)
}

/// The ranks that C lists.
pub(crate) fn ranks_of(ranks: &RankList<'_>, count: usize) -> Result<Vec<Rank>, Failure> {
    ranks.slice(count, "the pointer to the ranks")?.iter().map(|&number| rank(number)).collect()
}

/// Sets what is called for each packet that arrives, in place of what was set before; user is
/// handed to it, and must live until the job is left. Packets wait while nothing is set. Messages
/// and regions are not among them, which a job may use beside packets.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_receive(
    job: Option<&Job>,
    callback: PacketCallback,
    user: User,
) -> Status {
    call(|| {
        let (callback, job) = (given(callback, "the callback")?, state(job)?);
        let waiters = Arc::clone(job.waiters());
        job.packets().on_packet(move |packet| {
            callback(&mut Arrival(Handle::lent(Arrived::InUpcall(packet))), user);
            waiters.callback_ran();
        });
        Ok(())
    })
}

/// Most bytes that a packet holds. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_capacity(
    job: Option<&Job>,
    capacity: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(capacity, state(job)?.packets().max_payload()))
}

/// A packet to fill with weft_packet_put(). It is the caller's, who gives it back by sending or
/// discarding it. Blocks while all packets are on their way; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_alloc(
    job: Option<&Job>,
    packet: Option<&mut MaybeUninit<*mut Packet>>,
) -> Status {
    call(|| {
        let out = given(packet, "the pointer for the result")?;
        let packet = Held::packet(state(job)?.packets())?;
        out.write(Box::into_raw(Box::new(Packet(Handle::new(packet)))));
        Ok(())
    })
}

/// Appends bytes to a packet. If they do not fit it is WEFT_TOO_LONG, and the packet stays as it
/// was. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_put(
    packet: Option<&mut Packet>,
    bytes: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| {
        let packet = given(packet, "packet")?.0.get_mut()?;
        packet.get().put(bytes.slice(length)?)?;
        Ok(())
    })
}

/// Sends a packet to rank to, and frees it, even when it fails. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_unicast(packet: Option<Box<Packet>>, to: u32) -> Status {
    call(|| {
        let packet = free(packet, |packet| &mut packet.0)?;
        let to = rank(to)?;
        Ok(packet.end(|packet| packet.unicast(to))?)
    })
}

/// Sends a packet to all ranks but this one, and frees it, even when it fails. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_broadcast(packet: Option<Box<Packet>>) -> Status {
    call(|| Ok(free(packet, |packet| &mut packet.0)?.end(SendPacket::broadcast)?))
}

/// Sends a packet to all members of the group but this rank, which has to be one, and frees it,
/// even when it fails. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_multicast(
    packet: Option<Box<Packet>>,
    group: Option<&Group>,
) -> Status {
    call(|| {
        let packet = free(packet, |packet| &mut packet.0)?;
        let group = members(group)?;
        Ok(packet.end(|packet| packet.multicast(group))?)
    })
}

/// Frees a packet without sending it. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_packet_discard(packet: Option<Box<Packet>>) -> Status {
    call(|| free(packet, |packet| &mut packet.0).map(drop))
}

/// Bytes of a packet that has arrived, and its sender. Nothing is copied. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_arrival_view(
    arrival: Option<&Arrival<'_>>,
    view: Option<&mut MaybeUninit<View>>,
) -> Status {
    call(|| {
        let (bytes, source, multicast): (&[u8], Rank, bool) =
            match given(arrival, "arrival")?.0.get()? {
                Arrived::InUpcall(packet) => (packet, packet.source(), packet.group().is_some()),
                Arrived::Kept { packet, multicast } => (packet, packet.source(), *multicast),
            };
        let (bytes, length) = (bytes.as_ptr().cast(), bytes.len());
        put(view, View { bytes, length, source: source.0.into(), multicast })
    })
}

/// Keeps a packet beyond its callback, where it lies. It is then the caller's, to be released with
/// weft_arrival_release(), and the callback's own pointer leads to nothing any more. Its sender
/// gets the credit back on release: who keeps many stops senders. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_arrival_keep(
    arrival: Option<&mut Arrival<'_>>,
    kept: Option<&mut MaybeUninit<*mut Arrival<'static>>>,
) -> Status {
    call(|| {
        let out = given(kept, "the pointer for the result")?;
        let arrived = match given(arrival, "arrival")?.0.take()? {
            Arrived::InUpcall(packet) => {
                let multicast = packet.group().is_some();
                let gone = || Failure::invalid("the job of this packet is gone");
                Arrived::Kept { packet: packet.keep().ok_or_else(gone)?, multicast }
            }
            Arrived::Kept { packet, multicast } => Arrived::Kept { packet, multicast },
        };
        out.write(Box::into_raw(Box::new(Arrival(Handle::new(arrived)))));
        Ok(())
    })
}

/// Releases a packet that was kept. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_arrival_release(arrival: Option<Box<Arrival<'static>>>) -> Status {
    call(|| free(arrival, |arrival| &mut arrival.0).map(drop))
}

/// Creates a multicast group of count ranks. All ranks create the same groups in the same order,
/// before they use them, members or not. Members that overlap with another group's can deadlock.
/// The group is the caller's, to be freed with weft_group_free(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_group_create(
    job: Option<&Job>,
    ranks: RankList<'_>,
    count: usize,
    group: Option<&mut MaybeUninit<*mut Group>>,
) -> Status {
    call(|| {
        let out = given(group, "the pointer for the result")?;
        let group = state(job)?.packets().group(&ranks_of(&ranks, count)?)?;
        out.write(Box::into_raw(Box::new(Group(Handle::new(Members(group))))));
        Ok(())
    })
}

/// Frees what stands for a group in this program. The job keeps the group itself. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_group_free(group: Option<Box<Group>>) -> Status {
    call(|| free(group, |group| &mut group.0).map(drop))
}

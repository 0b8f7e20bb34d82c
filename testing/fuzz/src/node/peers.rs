//! Packets of the node's peers: messages in packets, nearly right, and other packets.

use super::link::{Arrival, FRAME_BYTES, Wire};
use super::{ASKED, HANDLED, LATE};
use arbitrary::{Result, Unstructured};
use weft_link::{BadFrame, LinkViolation};
use weft_messaging::format::{self, MAX_MESSAGE, PacketHeader, PacketKind, port_number};
use weft_protocol::Settings;
use weft_protocol::tree::MulticastGroup;
use weft_wire::atomic::Words;
use weft_wire::{Atomic, Channel, GroupId, Header, Malformed, Protocol, Rank, Tag, TreeId};

/// Messages that all peers are sending.
pub struct Peers {
    settings: Settings,
    everyone: MulticastGroup,
    ranks: Vec<Peer>,
}

#[derive(Default)]
struct Peer {
    next_message: u32,
    /// Messages of which packets are still to come: number, length, bytes sent.
    open: Vec<(u32, u64, u64)>,
    /// Credits that it returned.
    returned: u16,
}

impl Peers {
    pub fn new(settings: Settings) -> Self {
        let members: Vec<Rank> = (0..settings.ranks).map(Rank).collect();
        let everyone = MulticastGroup::new(&members, settings.shape, members.len());
        let ranks = members.iter().map(|_| Peer::default()).collect();
        Peers { settings, everyone: everyone.expect("all ranks are a group"), ranks }
    }

    /// The next frame that some peer writes.
    pub fn frame(&mut self, script: &mut Unstructured<'_>, wire: &Wire) -> Result<Arrival> {
        let from = Rank(script.int_in_range(1..=self.settings.ranks - 1)?);
        let kind = script.int_in_range(0..=31)?;
        let mut header = Header::new(Tag::Ucast, from, TreeId::unicast(from), 0);
        let mut bytes = Vec::new();
        match kind {
            0..=25 => {
                if script.ratio(1, 4)? {
                    header = self.multicast_header(script, from)?;
                }
                bytes = self.message_packet(script, header.tree.root)?;
            }
            26 => bytes = script.bytes(script.len().min(FRAME_BYTES).min(24))?.to_vec(),
            27 => header.tag = Tag::Credit,
            28 => header.tag = Tag::FaRequest,
            29 => header.tag = Tag::FaReply,
            30 => header.tag = any_tag(script)?,
            _ => return Ok(Arrival::Bad(bad_frame(script, from)?)),
        }
        header.size = bytes.len() as u16;
        // Messages are for the engine; other bytes are for a system that nobody has opened.
        if kind <= 25 {
            header.tree = header.tree.of(Protocol::MESSAGES);
        }
        self.return_credits(script, wire, &mut header)?;
        if script.ratio(1, 8)? {
            change_one_field(&mut header, script)?;
        }
        if matches!(header.tag, Tag::Ucast | Tag::Mcast) {
            return Ok(Arrival::Bytes(header, bytes.into()));
        }
        let words = match header.tag {
            Tag::FaRequest => Some(request_words(script, &mut header)?),
            Tag::FaReply => Some([script.int_in_range(0..=80)?, 1, 0]),
            _ => None,
        };
        Ok(Arrival::Words(header, words))
    }

    /// A multicast that `from` passes on, of a root whose tree it is the parent of rank 0 in.
    fn multicast_header(&self, script: &mut Unstructured<'_>, from: Rank) -> Result<Header> {
        let root = Rank(script.int_in_range(1..=self.settings.ranks - 1)?);
        let parent = self.everyone.parent(root, Rank(0)).unwrap_or(from);
        Ok(Header::new(Tag::Mcast, parent, TreeId::multicast(GroupId::ALL, root), 0))
    }

    /// A packet of a message from `origin`: the next of one that has begun, or the first of
    /// another.
    fn message_packet(&mut self, script: &mut Unstructured<'_>, origin: Rank) -> Result<Vec<u8>> {
        let peer = &mut self.ranks[origin.index()];
        let room = (FRAME_BYTES - format::SIZE) as u64;
        let goes_on = !peer.open.is_empty() && script.ratio(2, 3)?;
        let (mut header, body_bytes) = if goes_on {
            let index = script.choose_index(peer.open.len())?;
            let (message, length, sent) = peer.open[index];
            let body_bytes = (length - sent).min(room);
            peer.open[index].2 += body_bytes;
            if sent + body_bytes == length {
                peer.open.swap_remove(index);
            }
            (packet_header(message, sent, PacketKind::Next), body_bytes)
        } else if script.ratio(1, 6)? {
            (self.about_a_message(script, origin)?, 0)
        } else {
            peer.next_message += 1;
            let length = match script.int_in_range(0..=15)? {
                15 => MAX_MESSAGE - u64::from(script.arbitrary::<u8>()?),
                short => short * 20,
            };
            let kind = if script.ratio(1, 6)? { PacketKind::Request } else { PacketKind::First };
            let mut header = packet_header(peer.next_message, length, kind);
            header.header_bytes = script.choose(&[0u8, 0, 4, 20])?.to_owned();
            let body_bytes = match kind {
                // Its bytes follow as if rank 0 had granted them, which it may not have.
                PacketKind::Request => 0,
                _ => length.min(room - u64::from(header.header_bytes)),
            };
            if body_bytes < length {
                peer.open.push((header.message, length, body_bytes));
            }
            (header, body_bytes)
        };
        header.port = port_number(script.choose(&[HANDLED, ASKED, ASKED, LATE])?);
        let mut size = usize::from(header.header_bytes) + body_bytes as usize;
        if script.ratio(1, 8)? {
            distort(&mut header, &mut size, script)?;
        }
        let mut packet = header.emit().to_vec();
        packet.extend(header.padding());
        packet.resize(packet.len() + size.min(room as usize), 7);
        packet.truncate(FRAME_BYTES);
        Ok(packet)
    }

    /// An answer to rank 0, which numbers its messages from 1 on; or one of a peer's own ends, or
    /// waits.
    fn about_a_message(
        &mut self,
        script: &mut Unstructured<'_>,
        origin: Rank,
    ) -> Result<PacketHeader> {
        let open = &mut self.ranks[origin.index()].open;
        if open.is_empty() || script.arbitrary()? {
            let kind = *script.choose(&[PacketKind::Grant, PacketKind::Unwanted])?;
            return Ok(packet_header(script.int_in_range(1..=30)?, 0, kind));
        }
        let index = script.choose_index(open.len())?;
        if script.arbitrary()? {
            return Ok(packet_header(open[index].0, 0, PacketKind::Waiting));
        }
        let (message, _, sent) = open.swap_remove(index);
        Ok(packet_header(message, sent, PacketKind::Cancel))
    }

    /// Credits for what rank 0 has sent, mostly no more than it has.
    fn return_credits(
        &mut self,
        script: &mut Unstructured<'_>,
        wire: &Wire,
        header: &mut Header,
    ) -> Result<()> {
        let peer = &mut self.ranks[header.source.index()];
        let sent = wire.sent.get(&header.source).copied().unwrap_or_default();
        let owed = sent.saturating_sub(peer.returned);
        if header.tag == Tag::Credit || script.arbitrary()? {
            header.credits = owed;
            peer.returned = sent.max(peer.returned);
        }
        Ok(())
    }
}

/// All that a packet may be.
const KINDS: [PacketKind; 11] = [
    PacketKind::First,
    PacketKind::Next,
    PacketKind::Window,
    PacketKind::Probe,
    PacketKind::NoPort,
    PacketKind::Stalled,
    PacketKind::Request,
    PacketKind::Grant,
    PacketKind::Unwanted,
    PacketKind::Waiting,
    PacketKind::Cancel,
];

fn packet_header(message: u32, bytes: u64, kind: PacketKind) -> PacketHeader {
    PacketHeader { port: 0, message, bytes, header_bytes: 0, kind, aligned: false }
}

fn distort(
    header: &mut PacketHeader,
    size: &mut usize,
    script: &mut Unstructured<'_>,
) -> Result<()> {
    match script.int_in_range(0..=6)? {
        0 => header.port = script.arbitrary()?,
        1 => header.message = script.int_in_range(0..=8)?,
        2 => header.bytes = script.int_in_range(0..=MAX_MESSAGE)?,
        3 => header.header_bytes = script.arbitrary()?,
        4 => *size = script.int_in_range(0..=FRAME_BYTES)?,
        5 => {
            // About a port that nobody has made.
            (header.port, *size, header.header_bytes) = (script.arbitrary()?, 0, 0);
            header.kind = *script.choose(&KINDS)?;
        }
        _ => {
            header.kind = *script.choose(&KINDS)?;
        }
    }
    Ok(())
}

fn change_one_field(header: &mut Header, script: &mut Unstructured<'_>) -> Result<()> {
    match script.int_in_range(0..=6)? {
        0 => header.source = Rank(script.int_in_range(0..=6)?),
        1 => header.tag = any_tag(script)?,
        2 => header.tree = TreeId::from_bits(script.arbitrary()?),
        3 => header.channel = Channel(Some(Rank(script.int_in_range(0..=6)?))),
        4 => header.sequence = script.arbitrary()?,
        5 => header.acknowledgement = script.arbitrary()?,
        _ => header.credits = script.arbitrary()?,
    }
    Ok(())
}

fn any_tag(script: &mut Unstructured<'_>) -> Result<Tag> {
    Ok(Tag::try_from(script.int_in_range(1..=12)?).unwrap_or(Tag::ChannelClear))
}

fn bad_frame(script: &mut Unstructured<'_>, from: Rank) -> Result<LinkViolation> {
    let what = BadFrame::Header(Malformed::Tag(script.arbitrary()?));
    Ok(LinkViolation { from, what })
}

/// Words of a request with this header, most of them for an operation that exists.
fn request_words(script: &mut Unstructured<'_>, header: &mut Header) -> Result<Words> {
    let (operation, variable) = (script.int_in_range(0..=9u64)?, script.arbitrary::<u16>()?);
    let words = [operation << 16 | u64::from(variable), 1, script.int_in_range(0..=2)?];
    if let Ok((_, operation)) = Atomic::parse(words) {
        header.size = operation.size();
    }
    Ok(words)
}

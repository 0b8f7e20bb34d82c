//! Packets as peers send them: right in all but a field or two, or in none.

use super::ledger::is_numbered;
use super::{Bench, SIZE};
use arbitrary::{Result, Unstructured};
use weft_protocol::tree::MulticastGroup;
use weft_protocol::{Deferred, PacketBody, Recovery};
use weft_wire::{Atomic, Channel, GroupId, Header, Rank, Tag, TreeId, atomic};

/// Stands for the buffer that a packet will fill.
const SOME_BUFFER: PacketBody<u64> = PacketBody::Buffer(0);

impl Bench {
    /// A packet that a correct peer could send, but for one field in every few.
    pub(super) fn likely_packet(
        &self,
        script: &mut Unstructured<'_>,
    ) -> Result<(Header, PacketBody<u64>)> {
        let hop = script.int_in_range(1..=self.settings.ranks - 1)?;
        let mut from = Rank((self.host.local.0 + hop) % self.settings.ranks);
        let mut tree = TreeId::unicast(from);
        let (tag, body) = match script.int_in_range(0..=11)? {
            0..=3 => (Tag::Ucast, SOME_BUFFER),
            4..=7 => {
                (from, tree) = self.multicast_hop(from, script)?;
                (Tag::Mcast, SOME_BUFFER)
            }
            8 => (Tag::FaRequest, any_request(script)?),
            9 => {
                from = self.host.fetching.filter(|&home| home != self.host.local).unwrap_or(from);
                tree = TreeId::unicast(from);
                (Tag::FaReply, PacketBody::Fetched(script.arbitrary()?))
            }
            10 if self.settings.adaptive.is_some() => {
                (*script.choose(&[Tag::Credit, Tag::Recall, Tag::Return])?, PacketBody::Empty)
            }
            10 if self.is_careful() => (Tag::Credit, PacketBody::Empty),
            10 => {
                const CONTROL: [Tag; 4] = [Tag::Acknowledge, Tag::Nack, Tag::Farewell, Tag::Lost];
                (*script.choose(&CONTROL)?, PacketBody::Empty)
            }
            _ if !self.host.ledger.channels.below.is_empty() && script.ratio(3, 4)? => {
                let below: Vec<_> = self.host.ledger.channels.below.iter().copied().collect();
                let (child, owner) = *script.choose(&below)?;
                return Ok((self.clear(child, owner), PacketBody::Empty));
            }
            _ => {
                (_, tree) = self.multicast_hop(from, script)?;
                (any_control(script)?, PacketBody::Empty)
            }
        };
        let size = match body {
            PacketBody::Atomic { operation, .. } => operation.size(),
            _ => SIZE,
        };
        let mut header = Header::new(tag, from, tree, size);
        self.number(&mut header, script)?;
        if script.ratio(1, 4)? {
            change_one_field(&mut header, script)?;
        }
        Ok((header, body))
    }

    /// `child` says that its part of the channel of `owner` is clear.
    pub(super) fn clear(&self, child: Rank, owner: Rank) -> Header {
        let header = Header::new(Tag::ChannelClear, child, TreeId::unicast(child), 0);
        Header { channel: Channel(Some(owner)), ..header }
    }

    /// A packet that has little to do with anything.
    pub(super) fn unlikely_packet(
        &self,
        script: &mut Unstructured<'_>,
    ) -> Result<(Header, PacketBody<u64>)> {
        let source = Rank(script.int_in_range(0..=self.settings.ranks)?);
        let tag = any_tag(script)?;
        let mut header = Header::new(tag, source, any_tree(script)?, script.arbitrary()?);
        header.channel = any_channel(script)?;
        header.sequence = script.arbitrary()?;
        header.acknowledgement = script.arbitrary()?;
        header.credits = script.arbitrary()?;
        let body = match script.int_in_range(0..=3)? {
            0 => SOME_BUFFER,
            1 => any_request(script)?,
            2 => PacketBody::Fetched(script.arbitrary()?),
            _ => PacketBody::Empty,
        };
        Ok((header, body))
    }

    /// The last hop to this rank in the tree of some root, if there is one; else from `from`.
    fn multicast_hop(&self, from: Rank, script: &mut Unstructured<'_>) -> Result<(Rank, TreeId)> {
        let is_in = |group: &&MulticastGroup| group.contains(self.host.local);
        if let Some(next) = self.next.as_ref().filter(is_in)
            && script.arbitrary()?
        {
            return self.hop_in(GroupId(1), next, from, script);
        }
        let id = *script.choose(&self.groups)?;
        let group = self.ni.group(id).expect("this rank made it");
        self.hop_in(id, group, from, script)
    }

    fn hop_in(
        &self,
        id: GroupId,
        group: &MulticastGroup,
        from: Rank,
        script: &mut Unstructured<'_>,
    ) -> Result<(Rank, TreeId)> {
        let root = *script.choose(group.members())?;
        let parent = group.parent(root, self.host.local);
        Ok((parent.unwrap_or(from), TreeId::multicast(id, root)))
    }

    /// Credits and a channel, or a sequence number and an acknowledgement, near what is right.
    fn number(&self, header: &mut Header, script: &mut Unstructured<'_>) -> Result<()> {
        let pair = self.host.ledger.pair(header.source);
        if self.is_careful() {
            let (held, _) = self.ni.observe().outgoing(header.source);
            let most = match header.tag {
                Tag::Return => pair.credits.asked.unwrap_or(0),
                _ => self.settings.window_packets - held,
            };
            if matches!(header.tag, Tag::Credit | Tag::Return) || script.arbitrary()? {
                header.credits = script.int_in_range(0..=most)?;
            }
            header.asks = self.settings.adaptive.is_some() && script.arbitrary()?;
            let often = if self.settings.recovery == Recovery::Off { 1 } else { 5 };
            if script.ratio(often, 16)? {
                header.channel = Channel(Some(Rank(script.int_in_range(0..=self.settings.ranks)?)));
            }
            return Ok(());
        }
        // Those that the host has yet to get to, if it is the host that looks at numbers.
        let is_before = |other: &&Deferred<u64>| {
            other.header.source == header.source && is_numbered(other.header.tag)
        };
        let before = if self.ni_checks_numbers() {
            0
        } else {
            self.host.deferred.iter().filter(is_before).count()
        };
        let expected = pair.numbers.expected + before as u32;
        header.sequence = match script.int_in_range(0..=15)? {
            0..=9 => expected,
            near => expected.wrapping_add(near).wrapping_sub(13),
        };
        if self.settings.preset.is_optimistic() {
            header.asks = script.arbitrary()?;
            header.credits = script.int_in_range(0..=5)?;
        }
        header.acknowledgement = match script.int_in_range(0..=15)? {
            0..=12 => script.int_in_range(pair.numbers.acknowledged..=pair.numbers.next)?,
            near => pair.numbers.next.wrapping_add(near).wrapping_sub(14),
        };
        Ok(())
    }
}

fn change_one_field(header: &mut Header, script: &mut Unstructured<'_>) -> Result<()> {
    match script.int_in_range(0..=7)? {
        0 => header.source = Rank(script.int_in_range(0..=8)?),
        1 => header.tag = any_tag(script)?,
        2 => header.tree = any_tree(script)?,
        3 => header.channel = any_channel(script)?,
        4 => header.sequence = script.arbitrary()?,
        5 => header.acknowledgement = script.arbitrary()?,
        6 => header.credits = script.arbitrary()?,
        _ => header.size = script.arbitrary()?,
    }
    Ok(())
}

/// Words of a request, most of them for an operation that exists.
pub(super) fn any_words(script: &mut Unstructured<'_>) -> Result<atomic::Words> {
    let (operation, variable) = (script.int_in_range(0..=9u64)?, script.arbitrary::<u16>()?);
    let (operand, expected) = (script.arbitrary::<u8>()?, script.arbitrary::<u8>()?);
    Ok([operation << 16 | u64::from(variable), operand.into(), expected.into()])
}

fn any_request(script: &mut Unstructured<'_>) -> Result<PacketBody<u64>> {
    Ok(match Atomic::parse(any_words(script)?) {
        Ok((variable, operation)) => PacketBody::Atomic { variable, operation },
        Err(first) => PacketBody::Unknown(first),
    })
}

/// A tag that exists, those included that no preset knows yet.
fn any_tag(script: &mut Unstructured<'_>) -> Result<Tag> {
    Ok(Tag::try_from(script.int_in_range(1..=12)?).unwrap_or(Tag::ChannelClear))
}

fn any_control(script: &mut Unstructured<'_>) -> Result<Tag> {
    let tag = any_tag(script)?;
    Ok(if tag.is_data() { Tag::ChannelClear } else { tag })
}

fn any_tree(script: &mut Unstructured<'_>) -> Result<TreeId> {
    let root = Rank(script.int_in_range(0..=8)?);
    Ok(match script.int_in_range(0..=3)? {
        0 => TreeId::unicast(root),
        // The last is one that nobody could have created by now.
        1 | 2 => {
            let id = [0, 1, 2000][script.int_in_range(0..=2_usize)?];
            TreeId::multicast(GroupId(id), root)
        }
        _ => TreeId::from_bits(script.arbitrary()?),
    })
}

fn any_channel(script: &mut Unstructured<'_>) -> Result<Channel> {
    Ok(Channel(Some(Rank(script.int_in_range(0..=8)?)).filter(|owner| owner.0 < 8)))
}

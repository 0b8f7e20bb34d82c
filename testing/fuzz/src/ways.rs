//! Pieces of long packets, probes of ways and answers to them, by a member of the job that says
//! anything in them, one by one or joined; and what its victim sends along such a way, runs too.

use arbitrary::{Result, Unstructured};
use std::collections::VecDeque;
use weft_datagram::seal::{FrameKind, Keys, Protection, Seals, Secret};
use weft_datagram::{ArrivalSource, Landed, ReceiveQueue, SendQueue};
use weft_link::{Payload, Received};
use weft_wire::path::{Piece, Probe, ProbeAnswer};
use weft_wire::{Header, Rank, Tag, TreeId, envelope, network};

/// Bytes of a frame of the job.
const FRAME: usize = 2000;
/// Bytes of a packet's body that fit into it.
const BODY: usize = FRAME - envelope::SIZE - network::SIZE - envelope::ALIGNMENT;
/// Steps of a script at most.
const STEPS: usize = 400;
/// Frames that leave at one time at most: packets in pieces, probes and answers.
const MOST_FRAMES: usize = 100;
/// Frames of a run at most.
const MOST_IN_RUN: usize = 3;
const VICTIM: Rank = Rank(0);
const ATTACKER: Rank = Rank(1);

/// Both ends.
struct Pair {
    victim: Seals,
    attacker: Seals,
    /// Frames that have arrived at the victim.
    wire: Wire,
    incoming: ReceiveQueue<Box<[u8]>>,
    outgoing: SendQueue<Box<[u8]>>,
    now: u64,
    /// Number of the last round that the victim has sent.
    round: u32,
    /// Packet of the attacker that leaves in pieces, its number, and how much of it has left.
    packet: Vec<u8>,
    number: u32,
    cut: usize,
}

/// Frames on their way, of which so many land together; all but the last as long as the first, or
/// so it is said.
struct Wire {
    frames: VecDeque<Vec<u8>>,
    together: usize,
}

impl ArrivalSource<Box<[u8]>> for Wire {
    fn look(
        &mut self,
        _: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> bool {
        let count = self.together.min(self.frames.len());
        let all: Vec<Vec<u8>> = self.frames.drain(..count).collect();
        let Some(datagram_bytes) = all.first().map(Vec::len) else { return false };
        let all = all.concat().into_boxed_slice();
        let landed = Landed { start: 0, end: all.len(), datagram_bytes };
        arrived.push_back((all, landed));
        true
    }
}

/// A victim is told anything, and goes on: packets that come are the attacker's own, and no frame
/// is longer than frames are.
pub fn frames(data: &[u8]) {
    let _ = play(&mut Unstructured::new(data));
}

fn play(script: &mut Unstructured<'_>) -> Result<()> {
    let protection =
        *script.choose(&[Protection::Headers, Protection::Tagged, Protection::Encrypted])?;
    let [victim, attacker] = [VICTIM, ATTACKER]
        .map(|own| Seals::new(Keys::new(Secret::new([7; 16]), 1, own, protection), 2));
    let mut pair = Pair {
        victim,
        attacker,
        wire: Wire { frames: VecDeque::new(), together: 1 },
        incoming: ReceiveQueue::new(4, Vec::new()),
        outgoing: SendQueue::new(2, 64, 0..FRAME, protection.trailer_bytes()),
        now: 0,
        round: 0,
        packet: Vec::new(),
        number: 0,
        cut: 0,
    };
    if script.arbitrary()? {
        pair.outgoing.set_most_in_run(MOST_IN_RUN);
    }
    for _ in 0..STEPS {
        if script.is_empty() {
            break;
        }
        match script.int_in_range(0..=7)? {
            0 | 1 => pair.send(script)?,
            2 => pair.tend(script)?,
            3 => pair.probe(script)?,
            4 | 5 => pair.answer(script)?,
            _ => pair.piece(script)?,
        }
        // What is joined waits until there is enough.
        if pair.wire.frames.len() >= pair.wire.together {
            pair.receive();
            pair.wire.together = script.int_in_range(1..=8)?;
        }
    }
    Ok(())
}

impl Pair {
    /// The victim sends a packet.
    fn send(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let most = BODY - self.victim.protection().trailer_bytes();
        let most = self.outgoing.most_payload_in_run(most);
        let body = vec![1; script.int_in_range(0..=most)?];
        let header = Header::new(Tag::Ucast, VICTIM, TreeId::unicast(VICTIM), body.len() as u16);
        self.outgoing.put(ATTACKER, &header, &body, place);
        self.leave();
        Ok(())
    }

    /// The victim looks after its ways.
    fn tend(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        self.now += script.int_in_range(0..=1_500_000_000_u64)?;
        self.outgoing.tend(&mut self.incoming.pending_answers, self.now, place);
        self.leave();
        Ok(())
    }

    /// Departure of what waits, which reaches the attacker.
    fn leave(&mut self) {
        self.outgoing.seal(&mut self.victim);
        assert!(self.outgoing.waiting().len() <= MOST_FRAMES, "so much for one");
        while let Some(mut datagram) = self.outgoing.pop() {
            let end = datagram.end();
            let cut_at = datagram.cut_at().unwrap_or(end);
            assert!(cut_at <= FRAME, "a frame of {cut_at} bytes");
            for frame in datagram.place[..end].chunks_mut(cut_at) {
                let opened = self.attacker.open(frame).expect("nobody changed it");
                if opened.kind == FrameKind::PROBE {
                    let probe = Probe::parse(&frame[opened.contents]).expect("it is whole");
                    self.round = if probe.round > 0 { probe.round } else { self.round };
                }
            }
        }
    }

    fn probe(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let round = *script.choose(&[0, 1, 2, u32::MAX])?;
        let zeros = vec![0; script.int_in_range(0..=BODY)?];
        self.say(script, FrameKind::PROBE, &[&Probe { round }.emit(), &zeros])
    }

    fn answer(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let round = if script.ratio(7, 8)? { self.round } else { script.arbitrary()? };
        let longest = match script.int_in_range(0..=3)? {
            0 => script.arbitrary()?,
            1 => *script.choose(&[0, 511, 512, 513, FRAME as u32 - 1, FRAME as u32])?,
            _ => script.int_in_range(0..=FRAME as u32)?,
        };
        self.say(script, FrameKind::ANSWER, &[&ProbeAnswer { round, longest }.emit()])
    }

    /// The next piece of a packet, or something like it.
    fn piece(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        if self.cut >= self.packet.len() {
            let body = vec![2; script.int_in_range(0..=5000)?];
            let source = if script.ratio(7, 8)? { ATTACKER } else { Rank(script.arbitrary()?) };
            let header =
                Header::new(Tag::Ucast, source, TreeId::unicast(source), body.len() as u16);
            self.packet = vec![0; envelope::packet_bytes(body.len())];
            envelope::put(&mut self.packet, &header, &body);
            (self.cut, self.number) = (0, self.number.wrapping_add(1));
        }
        let end = self.packet.len().min(self.cut + script.int_in_range(0..=1900)?);
        let (offset, total) = (self.cut as u16, self.packet.len() as u16);
        let mut piece = Piece { number: self.number, offset, total };
        match script.int_in_range(0..=15)? {
            0 => piece.number = script.arbitrary()?,
            1 => piece.offset = script.arbitrary()?,
            2 => piece.total = script.arbitrary()?,
            3 => self.packet[self.cut] ^= script.arbitrary::<u8>()?,
            _ => {}
        }
        let bytes = self.packet[self.cut..end].to_vec();
        self.cut = end;
        self.say(script, FrameKind::PIECE, &[&piece.emit(), &bytes])
    }

    /// The attacker sends a frame of this kind with these contents, or with the first of them.
    fn say(
        &mut self,
        script: &mut Unstructured<'_>,
        kind: FrameKind,
        parts: &[&[u8]],
    ) -> Result<()> {
        let mut contents = parts.concat();
        if script.ratio(1, 16)? {
            contents.truncate(script.int_in_range(0..=12)?);
        }
        let trailer = vec![0; self.attacker.protection().trailer_bytes()];
        let mut frame = [&[0; envelope::SIZE][..], &contents, &trailer].concat();
        self.attacker.sealer(VICTIM).seal(kind, &mut frame);
        self.wire.frames.push_back(frame);
        Ok(())
    }

    /// The victim takes what has come.
    fn receive(&mut self) {
        while let Some(received) = self.incoming.next(&mut self.wire, &mut self.victim) {
            let Received { header, payload } = received;
            assert_eq!(header.source, ATTACKER, "another's packet");
            if let Payload::Buffer(buffer) = payload {
                let body = self.incoming.read(buffer, header.size.into()).expect("it is there");
                assert_eq!(body.len(), usize::from(header.size));
                assert!(self.incoming.free(buffer));
            }
        }
    }
}

fn place() -> Option<Box<[u8]>> {
    Some(vec![0; MOST_IN_RUN * FRAME].into_boxed_slice())
}

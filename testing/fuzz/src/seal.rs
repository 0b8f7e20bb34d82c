//! Frames on a network: sealed by a member of the job and then changed, or made up.

use arbitrary::{Result, Unstructured};
use weft_datagram::seal::{FrameKind, Keys, Protection, Seals, Secret};
use weft_wire::several::{self, Entry};
use weft_wire::{Header, Rank, Tag, TreeId, envelope};

/// Bytes of a long packet that are covered under [`Protection::Headers`].
const COVERED: usize = 128;
/// Packets of a frame at most.
const PACKETS: usize = 4;

/// A frame of some packets arrives as it was sealed; changed, it is refused, and so is what is left
/// of the script as a frame.
pub fn frames(data: &[u8]) {
    let _ = play(&mut Unstructured::new(data));
}

fn play(script: &mut Unstructured<'_>) -> Result<()> {
    let all = [Protection::Headers, Protection::Tagged, Protection::Encrypted];
    let protection = *script.choose(&all)?;
    let seals = |own| Seals::new(Keys::new(Secret::new([7; 16]), 1, Rank(own), protection), 2);
    let [mut sender, mut receiver] = [0, 1].map(seals);
    let mut frame = vec![0; envelope::SIZE];
    let mut sent = Vec::new();
    for _ in 0..script.int_in_range(1..=PACKETS)? {
        let body = body(script)?;
        let size = body.len() as u16;
        let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size);
        let at = frame.len();
        frame.resize(at + envelope::packet_bytes(body.len()), 0);
        envelope::put(&mut frame[at..], &header, &body);
        sent.push((header, body));
    }
    frame.resize(frame.len() + protection.trailer_bytes(), 0);
    sender.sealer(Rank(1)).seal(FrameKind::PACKETS, &mut frame);
    let mut changed = frame.clone();
    for _ in 0..script.int_in_range(0..=4)? {
        let at = script.choose_index(changed.len())?;
        changed[at] ^= script.arbitrary::<u8>()?;
    }
    changed.truncate(changed.len() - script.int_in_range(0..=2)?);
    if changed != frame {
        // Of a long packet the end may be left to whoever carries it.
        let covered = changed.len() != frame.len()
            || protection != Protection::Headers
            || sent.len() > 1
            || changed.iter().zip(&frame).take(envelope::SIZE + COVERED).any(|(a, b)| a != b);
        let taken = receiver.open(&mut changed.clone());
        assert!(taken.is_err() || !covered, "a changed frame was taken");
        if taken.is_ok() {
            receiver = seals(1);
        }
    }
    let opened = receiver.open(&mut frame).expect("nobody changed it");
    let found = opened.packets(&frame).map(|(header, body)| (header, frame[body].to_vec()));
    assert_eq!(found.collect::<Vec<_>>(), sent);
    if protection == Protection::Tagged {
        for_several(script)?;
    }
    // What anybody may send, with a beginning that is often right.
    let mut made_up = envelope::emit(&envelope::Envelope {
        kind: FrameKind(script.int_in_range(0..=3)?),
        job: script.int_in_range(0..=1)?,
        source: Rank(script.int_in_range(0..=2)?),
        destination: *script.choose(&[Rank(1), Rank(0), envelope::EVERYBODY])?,
        length: script.arbitrary()?,
        sequence: script.arbitrary()?,
        tag: script.arbitrary()?,
    })
    .to_vec();
    made_up.extend_from_slice(script.bytes(script.len())?);
    assert!(receiver.open(&mut made_up).is_err(), "a frame that nobody sealed was taken");
    Ok(())
}

/// A body, of which many are so long that a digest stands for them under the tag.
fn body(script: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let bytes: Vec<u8> = script.arbitrary()?;
    Ok(bytes.repeat(1 + bytes.len() % 8))
}

/// A frame for some ranks, changed on its way: each receiver finds what was sent to it, or nothing.
fn for_several(script: &mut Unstructured<'_>) -> Result<()> {
    let keys = |own| Keys::new(Secret::new([7; 16]), 1, Rank(own), Protection::Tagged);
    let receivers = script.int_in_range(2..=4)?;
    let body = body(script)?;
    let tree = TreeId::multicast(weft_wire::GroupId::ALL, Rank(0));
    let header = |to: u16| {
        let mut header = Header::new(Tag::Mcast, Rank(0), tree, body.len() as u16);
        (header.sequence, header.credits) = (1000 + u32::from(to), to);
        header
    };
    let mut frame = vec![0; envelope::SIZE + envelope::packet_bytes(body.len())];
    envelope::put(&mut frame[envelope::SIZE..], &several::common(&header(0)), &body);
    for to in 1..=receivers {
        frame.extend(several::emit(&Entry::new(Rank(to), &header(to))));
    }
    Seals::new(keys(0), 6).seal_several(&mut frame);
    let mut changed = frame.clone();
    for _ in 0..script.int_in_range(0..=4)? {
        let at = script.choose_index(changed.len())?;
        changed[at] ^= script.arbitrary::<u8>()?;
    }
    changed.truncate(changed.len() - script.int_in_range(0..=40)?);
    for to in 1..=5 {
        let mut seals = Seals::new(keys(to), 6);
        let mut open = |frame: &[u8]| {
            let mut bytes = frame.to_vec();
            let opened = seals.open(&mut bytes).ok()?;
            let packets = opened.packets(&bytes);
            Some(packets.map(|(header, at)| (header, bytes[at].to_vec())).collect::<Vec<_>>())
        };
        let right = vec![(header(to), body.clone())];
        let taken = open(&changed);
        assert!(
            taken.as_ref().is_none_or(|found| *found == right),
            "what was sealed to {to} was changed"
        );
        assert!(
            taken.is_none() || to <= receivers,
            "a frame opened for somebody whom it does not name"
        );
        let expected = (to <= receivers && taken.is_none()).then_some(right);
        assert_eq!(open(&frame), expected, "the right one counts once");
    }
    Ok(())
}

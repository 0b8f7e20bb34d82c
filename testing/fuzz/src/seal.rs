//! Frames on a network: sealed by a member of the job and then changed, or made up.

use arbitrary::{Result, Unstructured};
use weft_seal::{Keys, Kind, Protection, Seals, Secret};
use weft_wire::{Header, Rank, Tag, TreeId, envelope};

/// Packets of a frame at most.
const PACKETS: usize = 4;

/// A frame of some packets arrives as it was sealed; changed, it is refused, and so is what is left of
/// the script as a frame.
pub fn frames(data: &[u8]) {
    let _ = play(&mut Unstructured::new(data));
}

fn play(script: &mut Unstructured<'_>) -> Result<()> {
    let protection = *script.choose(&[Protection::Tagged, Protection::Encrypted])?;
    let [mut sender, mut receiver] =
        [0, 1].map(|own| Seals::new(Keys::new(Secret::new([7; 16]), 1, Rank(own), protection), 2));
    let mut frame = vec![0; envelope::SIZE];
    let mut sent = Vec::new();
    for _ in 0..script.int_in_range(1..=PACKETS)? {
        let body: Vec<u8> = script.arbitrary()?;
        let size = body.len() as u16;
        let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size);
        let at = frame.len();
        frame.resize(at + envelope::packet_bytes(body.len()), 0);
        envelope::put(&mut frame[at..], &header, &body);
        sent.push((header, body));
    }
    frame.resize(frame.len() + protection.trailer_bytes(), 0);
    sender.sealer(Rank(1)).seal(Kind::PACKETS, &mut frame);
    let mut changed = frame.clone();
    for _ in 0..script.int_in_range(0..=4)? {
        let at = script.choose_index(changed.len())?;
        changed[at] ^= script.arbitrary::<u8>()?;
    }
    changed.truncate(changed.len() - script.int_in_range(0..=2)?);
    if changed != frame {
        assert!(receiver.open(&mut changed).is_err(), "a changed frame was taken");
    }
    let opened = receiver.open(&mut frame).expect("nobody changed it");
    let found = opened.packets(&frame).map(|(header, body)| (header, frame[body].to_vec()));
    assert_eq!(found.collect::<Vec<_>>(), sent);
    // What anybody may send, with a beginning that is often right.
    let mut made_up = envelope::emit(&envelope::Envelope {
        kind: Kind(script.int_in_range(0..=2)?),
        job: script.int_in_range(0..=1)?,
        source: Rank(script.int_in_range(0..=2)?),
        destination: *script.choose(&[Rank(1), Rank(0), envelope::EVERYBODY])?,
        sum: script.arbitrary()?,
        sequence: script.arbitrary()?,
        tag: script.arbitrary()?,
    })
    .to_vec();
    made_up.extend_from_slice(script.bytes(script.len())?);
    assert!(receiver.open(&mut made_up).is_err(), "a frame that nobody sealed was taken");
    Ok(())
}

//! Agreement among survivors: messages as bytes, and one rank that is told anything.

use weft_collective::agreement::{Agreement, AgreementMessage, Post};
use weft_endpoint::Rank;

/// The team of the rank that is told, which is the second.
const MEMBERS: [Rank; 4] = [Rank(0), Rank(1), Rank(2), Rank(3)];
const ME: Rank = MEMBERS[1];
/// Bytes of a step.
const STEP: usize = 8;

/// Asserts that a message, if it can be parsed, encodes to the same bytes.
pub fn message(data: &[u8]) {
    let Ok(message) = AgreementMessage::parse(data) else { return };
    assert_eq!(message.emit(), data);
}

/// Number of messages that the rank sent, none of them to itself or to a rank outside.
struct Sent(usize);

impl Post for Sent {
    fn send(&mut self, to: Rank, message: &AgreementMessage) {
        assert!(to != ME && MEMBERS.contains(&to), "a message to rank {to}");
        assert_eq!(AgreementMessage::parse(&message.emit()).as_ref(), Ok(message));
        self.0 += 1;
    }
}

/// A script of eight bytes a step: the rank begins agreements, when it may, is told of losses, and
/// hears what is nearly right, or anything. What is refused changes nothing.
pub fn messages(data: &[u8]) {
    let mut machine = Agreement::new(&MEMBERS, ME);
    let (mut begun, mut decided) = (0, 0);
    for step in data.chunks_exact(STEP) {
        let &[what, peer, ..] = step else { continue };
        let mut sent = Sent(0);
        match what % 6 {
            0 if begun == decided => {
                begun += 1;
                machine.begin(u64::from(peer), &mut sent);
            }
            1 if peer % 16 == 0 => machine.lost(MEMBERS[usize::from(peer) / 16 % 2 * 2], &mut sent),
            _ => hear(&mut machine, step, decided, &mut sent),
        }
        if let Some(decision) = machine.decided() {
            assert_eq!((decision.number, begun), (decided, decided + 1));
            assert!(!decision.lost.contains(&ME) && decision.lost.is_sorted());
            decided += 1;
        }
        assert_eq!(machine.awaited().is_empty(), begun == decided);
        assert!(!machine.known_lost().contains(&ME) && sent.0 <= 2 * MEMBERS.len());
    }
}

/// Hands a message over.
fn hear(machine: &mut Agreement, step: &[u8], next: u32, sent: &mut Sent) {
    let &[_, peer, kind, number, ballot, flags, lost, odd] = step else { return };
    let number = (next + u32::from(number % 4)).wrapping_sub(2);
    let ballot = if odd < 128 { u16::from(ballot % 4) } else { ME.0 };
    let lost = (0..5).filter(|rank| lost & 1 << rank != 0 && odd % 4 == 0);
    let front = [&[26 + kind % 4][..], &number.to_le_bytes(), &ballot.to_le_bytes()].concat();
    let flags = u64::from(flags).to_le_bytes();
    let bytes = [&front[..], &flags, &lost.flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat();
    let Ok(message) = AgreementMessage::parse(&bytes) else { return };
    let before = machine.clone();
    if machine.arrived(Rank(u16::from(peer % 5)), message, sent).is_err() {
        assert!(*machine == before && sent.0 == 0, "what is refused changes nothing");
    }
}

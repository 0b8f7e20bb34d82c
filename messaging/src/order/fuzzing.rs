//! Fuzz target for what members of an order say (`testing/fuzz`): numbers in any order, and counts
//! of what they have consumed.

use super::envelope::{Envelope, Placed};
use super::sequence::Sequence;
use super::view::{Begin, Fill, Founding, Message, Place, Post, Report, View};
use super::window::{OrderWindow, Outstanding};
use std::collections::BTreeMap;
use weft_endpoint::{Rank, Variable};

/// A script of messages for one member of an order: each has who sent it, how far its number is
/// from the one that is due, and whether it may be handed over at once. What is handed over has
/// consecutive numbers, of what waits there is a bound, and what is refused has changed nothing.
pub fn order(data: &[u8]) {
    let (head, script) = data.split_at(data.len().min(2));
    let [members, limit] = [0, 1].map(|at| 1 + usize::from(head.get(at).copied().unwrap_or(0) % 6));
    let mut sequence = Sequence::new(members, limit as u64);
    let window = OrderWindow { messages: limit as u64, ..OrderWindow::default() };
    let mut outstanding = Outstanding::new(members, window);
    let mut waiting: BTreeMap<u64, usize> = BTreeMap::new();
    for bytes in script.chunks_exact(Envelope::SIZE) {
        let envelope = Envelope::parse(bytes.try_into().unwrap_or_default());
        assert_eq!(envelope.emit(), bytes);
        let member = usize::from(bytes[15]) % members;
        outstanding.consumed_by(member, envelope.consumed);
        // Most numbers are near the one that is due; a member may claim any.
        let next = sequence.next();
        let number = match bytes[14] % 4 {
            0 => envelope.number.unwrap_or(u64::MAX),
            _ => next.saturating_add((u64::from(bytes[0]) % 8).saturating_sub(1)),
        };
        // A member hands over at once only while nothing that is due waits.
        let pass = bytes[14] & 0x80 != 0 && !waiting.contains_key(&next);
        match sequence.arrive(member, number, (number, member), pass) {
            Ok(Some(item)) => assert_eq!((item, pass), ((next, member), true)),
            Ok(None) => assert_eq!(waiting.insert(number, member), None),
            Err((_, item)) => assert_eq!((item, sequence.next()), ((number, member), next)),
        }
        let of_member = waiting.values().filter(|other| **other == member).count();
        assert!(of_member <= limit, "{of_member} of one member wait");
        if bytes[14] & 0x40 == 0 {
            while let Some((number, item)) = sequence.take() {
                assert_eq!(waiting.remove(&number), Some(item.1));
                assert_eq!(item.0, number);
                assert_eq!(number + 1, sequence.next());
            }
        }
    }
    assert_eq!(sequence.abandon().count(), waiting.len());
}

/// The member whose view is told anything, the second of these.
const MEMBERS: [Rank; 4] = [Rank(0), Rank(1), Rank(2), Rank(3)];
const ME: Rank = MEMBERS[1];

/// Messages that a view sends, none of them to itself or to a rank outside.
struct Sent;

impl Post for Sent {
    fn send(&mut self, to: Rank, message: Message) {
        assert!(to != ME && MEMBERS.contains(&to), "a message to rank {to}");
        assert_eq!(Message::parse(&message.emit()).as_ref(), Ok(&message));
    }
}

/// A script of eight bytes a step: a member of an order that goes on after losses sends, is told of
/// losses, and hears what is nearly right, or anything, until it refuses something. What it is
/// handed over has consecutive numbers.
pub fn order_view(data: &[u8]) {
    if let Ok(message) = Message::parse(data) {
        assert_eq!(message.emit(), data);
    }
    if let Some(bytes) = data.first_chunk() {
        assert_eq!(Placed::parse(*bytes).emit(), *bytes);
    }
    let variable = Variable { home: Rank(0), index: 7 };
    let founding = Founding { me: ME, members: MEMBERS.into(), variable, spare: Some(9), limit: 3 };
    let Some(mut view) = View::new(founding) else { return };
    let mut drawing = None;
    let mut next = 0;
    for step in data.chunks_exact(8) {
        if !tell(&mut view, &mut drawing, step) {
            return;
        }
        while let Some((number, whole)) = view.take() {
            assert_eq!(number, next);
            assert_eq!(whole.own.is_some(), whole.from == 1);
            next += 1;
        }
        assert_eq!(view.next(), next);
        while let Some(lost) = view.next_loss() {
            assert!(lost != ME && !view.members().contains(&lost));
        }
    }
}

/// Takes a step; false if it was refused.
fn tell(view: &mut View<()>, drawing: &mut Option<u64>, step: &[u8]) -> bool {
    let &[what, peer, epoch, near, lost, odd, next, other] = step else { return false };
    let from = MEMBERS[usize::from(peer) % 4];
    let number = (view.next() + u64::from(near % 8)).saturating_sub(2);
    let cut = |bit: &u16| (Rank(*bit), (odd & 1 != 0).then_some(number));
    let lost = (0..5_u16).filter(|rank| lost & 1 << rank != 0).map(|rank| cut(&rank)).collect();
    match what % 9 {
        0 if next % 4 != 0 => view.queue([next].into(), ()),
        0 | 1 if drawing.is_none() => *drawing = view.begin_draw().map(|(_, count)| count),
        0..=2 => {
            if drawing.take().is_some() {
                let value = if odd == 0 { None } else { Some(u64::from(near)) };
                return view.end_draw(value, &mut Sent).is_ok();
            }
        }
        3 if from != ME => view.lost(from, &mut Sent),
        3 => view.all_have_consumed(number.min(view.next())),
        4 => return view.reported(from, Report { lost, next: number }).is_ok(),
        5 => {
            let of = |place: u16| (Rank(place), view.next() + u64::from(next >> (2 * place) & 3));
            let nexts = (0..4).filter(|place| other & 1 << place != 0).map(of).collect();
            let begin = Begin { lost, next: number, base: number, home: from, nexts };
            return view.begun(MEMBERS[usize::from(peer / 4) % 4], begin, &mut Sent).is_ok();
        }
        6 => {
            if view.decision_due().is_some() {
                return view.decide(u64::from(near), &mut Sent).is_ok();
            }
        }
        7 => {
            let epoch = u16::from(epoch % 4);
            let fill = Fill { epoch, number, from, bytes: [next].into() };
            return view.filled(fill).is_ok();
        }
        _ => {
            let place = Place { epoch: u16::from(epoch % 4), number };
            return view.arrived(place, usize::from(peer) % 4, [next].into()).is_ok();
        }
    }
    true
}

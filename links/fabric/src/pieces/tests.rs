use super::*;
use crate::error::FabricError;
use crate::transport::TransportEvent;
use std::collections::VecDeque;
use std::ops::Range;
use std::ptr::NonNull;
use weft_datagram::memory::DatagramPlace;
use weft_datagram::seal::{Protection, Secret};

/// A transport that takes so many pieces, and notes which.
#[derive(Default)]
struct Scripted {
    takes: usize,
    posted: Vec<(usize, u64)>,
    sent: Vec<(usize, Rank, u64)>,
}

impl DatagramTransport for Scripted {
    fn grow(&mut self) -> Result<Vec<DatagramPlace>, FabricError> {
        Ok(Vec::new())
    }

    fn send(
        &mut self,
        place: DatagramPlace,
        _: Range<usize>,
        _: Rank,
    ) -> Result<Option<DatagramPlace>, (DatagramPlace, Unsent)> {
        Ok(Some(place))
    }

    fn post(&mut self, place: DatagramPlace) -> Result<(), DatagramPlace> {
        Err(place)
    }

    fn sending(&self, _: u32) -> Option<&DatagramPlace> {
        None
    }

    fn poll(&mut self, _: &mut VecDeque<TransportEvent>) {}

    fn may_sleep(&mut self) -> bool {
        true
    }

    fn send_piece(
        &mut self,
        number: usize,
        to: Rank,
        tag: u64,
        _: &ProgramMemory,
    ) -> Result<(), Unsent> {
        if self.sent.len() == self.takes {
            return Err(Unsent::Full);
        }
        self.sent.push((number, to, tag));
        Ok(())
    }

    fn post_piece(&mut self, number: usize, tag: u64, _: &ProgramMemory) -> bool {
        self.posted.push((number, tag));
        true
    }
}

fn keys(own: u16) -> Keys {
    Keys::new(Secret::new([5; 16]), 1, Rank(own), Protection::Headers)
}

fn pieces(own: u16) -> Pieces {
    Pieces::new(&keys(own))
}

fn lent(bytes: &[u8]) -> LentMemory {
    LentMemory { start: NonNull::from(bytes).cast(), bytes: bytes.len() }
}

fn posted(head: u8, bytes: &mut [u8]) -> Posted {
    Posted {
        head: [head; 16],
        start: NonNull::from(&mut *bytes).cast(),
        bytes: bytes.len(),
        there: 0,
    }
}

fn refusal() -> LibfabricError {
    LibfabricError { call: "fi_tsend", code: 5, text: "failed".into() }
}

#[test]
fn both_ends_have_one_tag_for_a_piece_and_another_for_each_other() {
    let (mut sender, mut receiver) = (pieces(0), pieces(1));
    let mut transport = Scripted { takes: 4, ..Scripted::default() };
    let bytes = [0; 8];
    for head in 0..2 {
        assert!(receiver.post(&mut transport, Rank(0), posted(head, &mut [0; 8])));
        assert_eq!(sender.send(&mut transport, Rank(1), &[head; 16], lent(&bytes)), None);
        // What somebody else sends under the same head.
        assert_eq!(pieces(2).send(&mut transport, Rank(1), &[head; 16], lent(&bytes)), None);
    }
    let posted: Vec<u64> = transport.posted.iter().map(|(_, tag)| *tag).collect();
    let sent: Vec<u64> = transport.sent.iter().map(|(.., tag)| *tag).collect();
    assert_eq!(posted, [sent[0], sent[2]]);
    assert!((0..4).all(|one| (0..one).all(|other| sent[one] != sent[other])), "{sent:?}");
}

#[test]
fn what_the_provider_does_not_take_yet_waits_and_is_lent() {
    let mut pieces = pieces(0);
    let mut transport = Scripted { takes: 1, ..Scripted::default() };
    let (first, second) = ([0; 8], [0; 8]);
    assert_eq!(pieces.send(&mut transport, Rank(1), &[1; 16], lent(&first)), None);
    assert_eq!(pieces.send(&mut transport, Rank(2), &[2; 16], lent(&second)), None);
    assert!(pieces.is_stuck() && pieces.has_lent(lent(&first)) && pieces.has_lent(lent(&second)));
    assert_eq!(pieces.ended(transport.sent[0].0, Ok(0)), None);
    assert!(pieces.take_news() && !pieces.has_news());
    assert!(!pieces.has_lent(lent(&first)) && pieces.has_lent(lent(&second)));
    transport.takes = 2;
    assert_eq!(pieces.retry(&mut transport), None);
    assert!(!pieces.is_stuck() && pieces.has_sends());
    assert_eq!(pieces.ended(transport.sent[1].0, Ok(0)), None);
    assert!(!pieces.has_sends() && !pieces.has_lent(lent(&second)));
}

#[test]
fn all_that_was_posted_is_there_or_nothing() {
    let mut pieces = pieces(1);
    let mut transport = Scripted::default();
    assert!(pieces.post(&mut transport, Rank(0), posted(1, &mut [0; 8])));
    assert_eq!(pieces.posted(Rank(0), &[1; 16]), 0);
    assert_eq!(pieces.ended(transport.posted[0].0, Ok(8)), None);
    assert_eq!((pieces.posted(Rank(0), &[1; 16]), pieces.posted(Rank(2), &[1; 16])), (8, 0));
    assert_eq!(pieces.unpost(Rank(0), &[1; 16]), Ok(8));
    assert_eq!(pieces.unpost(Rank(0), &[1; 16]), Ok(0), "it is given up");
}

#[test]
fn a_piece_of_another_length_and_one_that_fails_tell_with_whom() {
    for outcome in [Ok(7), Ok(9), Err(refusal())] {
        let mut pieces = pieces(1);
        let mut transport = Scripted::default();
        assert!(pieces.post(&mut transport, Rank(3), posted(1, &mut [0; 8])));
        let failed = pieces.ended(transport.posted[0].0, outcome.clone());
        assert_eq!(failed.map(|(with, _)| with), Some(Rank(3)), "{outcome:?}");
        assert_eq!(pieces.posted(Rank(3), &[1; 16]), 0);
    }
}

#[test]
fn one_that_was_given_up_fails_nobody_and_its_number_is_free_once_it_has_ended() {
    let mut pieces = pieces(1);
    let mut transport = Scripted::default();
    assert!(pieces.post(&mut transport, Rank(0), posted(1, &mut [0; 8])));
    let number = transport.posted[0].0;
    assert_eq!(pieces.unpost(Rank(0), &[1; 16]), Err(number));
    assert!(pieces.post(&mut transport, Rank(0), posted(2, &mut [0; 8])));
    assert_ne!(transport.posted[1].0, number, "the provider has it still");
    assert_eq!(pieces.ended(number, Err(refusal())), None);
    assert_eq!(pieces.unpost(Rank(0), &[1; 16]), Ok(0));
    assert!(pieces.post(&mut transport, Rank(0), posted(3, &mut [0; 8])));
    assert_eq!(transport.posted[2].0, number);
}

#[test]
fn numbers_are_left_for_sends() {
    let mut pieces = pieces(1);
    let mut transport = Scripted { takes: PIECES, ..Scripted::default() };
    let mut memory = [0; 8];
    let taken = (0..=255)
        .take_while(|head| pieces.post(&mut transport, Rank(0), posted(*head, &mut memory)));
    assert_eq!(taken.count(), PIECES / 2);
    assert_eq!(pieces.send(&mut transport, Rank(0), &[0; 16], lent(&memory)), None);
    assert!(!pieces.is_stuck());
    pieces.end_all();
    assert!(pieces.has_news() && !pieces.has_sends());
    assert_eq!(pieces.unpost(Rank(0), &[0; 16]), Ok(0));
}

use super::*;
use crate::error::{FabricError, LibfabricError};
use crate::memory::ProgramMemory;
use std::ops::Range;
use weft_datagram::memory::places;
use weft_datagram::seal::{Keys, Protection, Secret};

/// A transport that keeps what it is lent, in order, and says what it is told to say.
#[derive(Default)]
struct Scripted {
    lent: Vec<Option<DatagramPlace>>,
    sent: Vec<DatagramPlace>,
    says: VecDeque<Say>,
    /// Numbers of the pieces posted, and of those canceled.
    pieces: Vec<usize>,
    canceled: Vec<usize>,
    /// True if a piece that is canceled ends.
    cancels: bool,
    is_shut: bool,
}

/// Event of the next look.
#[derive(Clone, Copy)]
enum Say {
    /// A datagram of so many bytes lies in the place that was lent as this one.
    Received(usize, usize),
    /// None lies there.
    Failed(usize),
    /// The place that was sent first has left.
    Sent,
    /// The piece with this number has ended without having come.
    Canceled(usize),
}

impl DatagramTransport for Scripted {
    fn grow(&mut self) -> Result<Vec<DatagramPlace>, FabricError> {
        Ok(places(8, 64, 0)?)
    }

    fn send(
        &mut self,
        place: DatagramPlace,
        _: Range<usize>,
        _: Rank,
    ) -> Result<Option<DatagramPlace>, (DatagramPlace, Unsent)> {
        self.sent.push(place);
        Ok(None)
    }

    fn post(&mut self, place: DatagramPlace) -> Result<(), DatagramPlace> {
        self.lent.push(Some(place));
        Ok(())
    }

    fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        self.sent.iter().find(|place| place.index() == index)
    }

    fn poll(&mut self, events: &mut VecDeque<TransportEvent>) {
        for say in self.says.drain(..) {
            events.push_back(match say {
                Say::Received(number, end) => {
                    TransportEvent::Received(self.lent[number].take().unwrap(), end)
                }
                Say::Failed(number) => {
                    TransportEvent::ReceiveFailed(self.lent[number].take().unwrap())
                }
                Say::Sent => TransportEvent::Sent(self.sent.remove(0)),
                Say::Canceled(number) => {
                    let refusal =
                        LibfabricError { call: "fi_trecv", code: 125, text: "canceled".into() };
                    TransportEvent::Ended(number, Err(refusal))
                }
            });
        }
    }

    fn may_sleep(&mut self) -> bool {
        true
    }

    fn post_piece(&mut self, number: usize, _: u64, _: &ProgramMemory) -> bool {
        self.pieces.push(number);
        true
    }

    fn cancel_piece(&mut self, number: usize) {
        self.canceled.push(number);
        if self.cancels {
            self.says.push_back(Say::Canceled(number));
        }
    }

    fn shut_down(&mut self) {
        self.is_shut = true;
    }
}

fn pieces() -> Pieces {
    Pieces::new(&Keys::new(Secret::new([5; 16]), 1, Rank(0), Protection::Headers))
}

/// Lengths of the datagrams that a look brings, after the transport said this.
fn looks(carrier: &mut Carrier<Scripted>, says: &[Say]) -> Vec<usize> {
    carrier.transport.says.extend(says);
    let mut arrived = VecDeque::new();
    carrier.look(&mut Vec::new(), &mut arrived);
    arrived.iter().map(|(_, landed): &(DatagramPlace, Landed)| landed.end).collect()
}

#[test]
fn datagrams_come_in_the_order_of_their_places() {
    let mut carrier = Carrier::new(Scripted::default(), pieces(), 2, 4);
    assert!(looks(&mut carrier, &[]).is_empty());
    assert!(looks(&mut carrier, &[Say::Received(2, 12), Say::Received(1, 11)]).is_empty());
    assert_eq!(looks(&mut carrier, &[Say::Received(0, 10)]), [10, 11, 12]);
    assert!(looks(&mut carrier, &[Say::Received(4, 14)]).is_empty());
    assert_eq!(looks(&mut carrier, &[Say::Failed(3)]), [14]);
    assert_eq!(carrier.counters.refused, 1);
}

#[test]
fn frames_come_back_and_can_be_read_meanwhile() {
    let mut carrier = Carrier::new(Scripted::default(), pieces(), 2, 2);
    let mut frames = carrier.take_frames(3).unwrap();
    let mut frame = frames.remove(1);
    frame[0] = 7;
    carrier.send(Rank(1), frame, 1);
    assert_eq!(carrier.sending(1).map(|place| place[0]), Some(7));
    assert!(carrier.returned().is_none());
    looks(&mut carrier, &[Say::Sent]);
    assert_eq!(carrier.returned().map(|place| place.index()), Some(1));
    assert!(carrier.sending(1).is_none() && carrier.is_flushed());
}

#[test]
fn memory_that_a_provider_does_not_give_back_is_taken_by_shutting_it_down() {
    for cancels in [true, false] {
        let mut carrier = Carrier::new(Scripted::default(), pieces(), 2, 4);
        carrier.transport.cancels = cancels;
        let mut memory = [0; 8];
        let (head, start) = ([1; 16], std::ptr::NonNull::from(&mut memory).cast());
        assert!(carrier.post_piece(Rank(1), Posted { head, start, bytes: 8, there: 0 }));
        assert_eq!(carrier.unpost_piece(Rank(1), &head), 0);
        assert_eq!(carrier.transport.canceled, carrier.transport.pieces);
        assert_eq!(carrier.transport.is_shut, !cancels);
        assert!(!carrier.is_broken(Rank(1)), "nobody has failed");
    }
}

//! Items: what is put in comes out. What is refused, the tests of whole searches say.

use super::*;

/// A position of two bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Two(pub [u8; 2]);

impl Game for Two {
    type Moves = std::iter::Empty<u8>;

    const BYTES: usize = 2;
    const GRAIN: u16 = 0;
    const MOST: i16 = 300;

    fn moves(&self) -> Self::Moves {
        std::iter::empty()
    }

    fn play(&self, _: u8) -> Self {
        *self
    }

    fn value(&self) -> i16 {
        0
    }

    fn hash(&self) -> u64 {
        0
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.0);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Two)
    }
}

#[test]
fn items_come_out_as_they_went_in_one_behind_the_other() {
    let (rank, record) = (Rank(3), RecordId { slot: 0x0102, turn: 0x0304_0506 });
    let (requester, window) =
        (Requester { rank, record, index: 250 }, Window { alpha: -301, beta: 301 });
    let request = Request { position: Two([8, 9]), depth: 513, window, requester };
    let answer = Answer { record, index: 7, value: Some(-300), is_cut: false, nodes: 0x0a0b_0c0d };
    let items = [
        Item::Request(request),
        Item::Answer(answer),
        Item::Answer(Answer { value: None, ..answer }),
        Item::Answer(Answer { is_cut: true, ..answer }),
        Item::Cut(record),
    ];
    let mut bytes = Vec::new();
    items.iter().for_each(|item| item.emit(&mut bytes));
    assert_eq!(bytes.len(), request_bytes::<Two>() + 3 * 14 + 7);
    let mut rest = &bytes[..];
    let parsed = items.map(|_| Item::<Two>::parse(rank, &mut rest).unwrap());
    assert_eq!((parsed, rest), (items, &[][..]));
}

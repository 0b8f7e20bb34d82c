//! Bytes of what members of an order say.

use super::envelope::{Envelope, Placed};
use super::view::{Begin, Fill, Message, Place, Report};
use std::collections::BTreeMap;
use weft_endpoint::Rank;
use weft_golden::{Entries, add};

/// A message of each kind about the members. Its cuts are one that is decided and one that is not.
fn view_messages() -> [Message; 3] {
    let lost = BTreeMap::from([(Rank(0x0102), None), (Rank(0x0304), Some(0x1112_1314_1516_1718))]);
    let report = Report { lost: lost.clone(), next: 0x2122_2324_2526_2728 };
    let begin = Begin {
        lost,
        next: 0x2122_2324_2526_2728,
        base: 0x3132_3334_3536_3738,
        home: Rank(0x4142),
        nexts: BTreeMap::from([(Rank(0x0506), 0x5152_5354_5556_5758)]),
    };
    let fill = Fill {
        epoch: 0x0102,
        number: 0x1112_1314_1516_1718,
        from: Rank(0x2122),
        bytes: (*b"text").into(),
    };
    [Message::Report(report), Message::Begin(begin), Message::Fill(fill)]
}

/// Name of a message. **One of another kind has its name here and its bytes in the list.**
fn name(message: &Message) -> &'static str {
    match message {
        Message::Report(_) => "report",
        Message::Begin(_) => "begin",
        Message::Fill(_) => "fill",
    }
}

/// Adds them to the list.
pub(crate) fn add_to(entries: &mut Entries) {
    let consumed = 0x1112_1314_1516_1718;
    for (name, number) in [("numbered", Some(0x0102_0304_0506_0708)), ("acknowledgement", None)] {
        let envelope = Envelope { number, consumed };
        let parsed = Envelope::parse(envelope.emit());
        assert_eq!((parsed.number, parsed.consumed), (number, consumed));
        add(entries, format!("order {name}"), envelope.emit());
    }
    let place = Place { epoch: 0x0102, number: 0x0304_0506_0708 };
    for (name, place) in [("placed", Some(place)), ("placed acknowledgement", None)] {
        let placed = Placed { place, consumed, stable: 0x2122_2324_2526_2728 };
        assert_eq!(Placed::parse(placed.emit()), placed);
        add(entries, format!("order {name}"), placed.emit());
    }
    for message in view_messages() {
        add(entries, format!("order view {}", name(&message)), message.emit());
    }
}

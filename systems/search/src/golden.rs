//! Bytes of messages of searches, which ranks of other builds read: `systems/search/golden.txt` has
//! them.

use crate::format::{HEADER_BYTES, Header, Kind, Tally};
use crate::job::Layout;
use crate::member::owner;
use crate::minimax::Window;
use crate::minimax::items::tests::Two;
use crate::minimax::items::{Answer, Item, RecordId, Request, Requester};
use crate::statistics::Iteration;
use crate::termination::Counts;
use crate::verdict::Deepened;
use crate::worker::Worked;
use std::path::Path;
use std::time::Duration;
use weft_endpoint::Rank;
use weft_golden::{BETWEEN_RANKS, Entries, add, hold};

/// A sender, where one is needed.
const FROM: Rank = Rank(3);
const TIME: Duration = Duration::from_nanos(0x6162_6364_6566_6768);

/// Kinds of messages, all that are read.
fn kinds() -> impl Iterator<Item = Kind> {
    let kind = |byte| {
        let mut header = [0; HEADER_BYTES];
        header[0] = byte;
        Header::parse(FROM, &header).ok().map(|(header, _)| header.kind)
    };
    (0..=u8::MAX).filter_map(kind)
}

fn tally() -> Tally {
    Tally {
        messages: Counts { sent: 0x0102, received: 0x1112 },
        jobs: 0x2122,
        worked: Worked {
            nodes: 0x3132,
            leaves: 0x4142,
            hits: 0x5152,
            dropped: 0x6162,
            excess: 0x7172,
        },
    }
}

/// Name of a thing that ranks of a search for values send each other. **One of another kind has its
/// name here and its bytes in the list.**
fn name(item: &Item<Two>) -> &'static str {
    match item {
        Item::Request(_) => "request",
        Item::Answer(Answer { value: None, .. }) => "answer without a value",
        Item::Answer(Answer { is_cut: true, .. }) => "answer that was cut",
        Item::Answer(_) => "answer",
        Item::Cut(_) => "cut",
    }
}

fn items() -> [Item<Two>; 5] {
    let record = RecordId { slot: 0x0102, turn: 0x1112_1314 };
    let request = Request {
        position: Two([0x21, 0x22]),
        depth: 0x3132,
        window: Window { alpha: 0x4142, beta: 0x5152 },
        requester: Requester { rank: FROM, record, index: 0x61 },
    };
    let value = Some(0x4142);
    let answer = Answer { record, index: 0x21, value, is_cut: false, nodes: 0x3132_3334 };
    [
        Item::Request(request),
        Item::Answer(answer),
        Item::Answer(Answer { value: None, ..answer }),
        Item::Answer(Answer { is_cut: true, ..answer }),
        Item::Cut(record),
    ]
}

/// Words of a result, as a broadcast of the team brings them.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn add_results(entries: &mut Entries) {
    let iteration = Iteration {
        bound: 0x0102,
        nodes: 0x1112,
        jobs: 0x2122,
        messages: 0x3132,
        hits: 0x4142,
        time: TIME,
    };
    add(entries, "result of an iteration", words(&iteration.emit()));
    let deepened = Deepened {
        depth: 0x0102,
        value: -0x1112,
        best: 0x21,
        probes: 0x3132_3334,
        nodes: 0x4142_4344_4546_4748,
        time: TIME,
    };
    add(entries, "result for a depth", words(&deepened.emit()));
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    for kind in kinds() {
        let header = Header { kind, bound: 0x0102, iteration: 0x1112_1314, number: 0x2122_2324 };
        add(&mut entries, format!("message {kind:?}"), header.emit());
    }
    add(&mut entries, "tally", tally().emit());
    for item in items() {
        let mut bytes = Vec::new();
        item.emit(&mut bytes);
        add(&mut entries, format!("values {}", name(&item)), bytes);
    }
    for bits in [1, 2, 4, 8] {
        let layout = Layout::new(5, bits);
        let encode = |bytes: &mut [u8]| bytes.copy_from_slice(b"place");
        // Moves that are told from one another in as few bits.
        let moves = [1, 0, 1, 1].map(|by| by * ((1_u16 << bits) - 1) as u8);
        let job =
            moves.iter().fold(layout.start(encode), |job, by| layout.child(&job, *by, encode));
        add(&mut entries, format!("job with moves of {bits} bits"), job.0);
    }
    add_results(&mut entries);
    // All ranks have to send a position to the same one.
    let owner = owner(0x0102_0304_8506_0708, 1 << 16) as u16;
    add(&mut entries, "owner of a position", owner.to_le_bytes());
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}

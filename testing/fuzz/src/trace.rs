//! Files of traces.

use weft_trace::event::{EventWords, WORDS};
use weft_trace::{Event, Trace, Writer};
use weft_wire::Rank;

/// A file of events, or any other. What is read is the same if it is written again.
pub fn file(data: &[u8]) {
    let Ok(trace) = Trace::read(data) else { return };
    let Ok(mut writer) = Writer::new(Vec::new(), &trace.run) else { return };
    for (rank, of) in (0..).zip(&trace.ranks) {
        let events: Vec<EventWords> = of.events.iter().map(Event::to_words).collect();
        assert!(writer.append(Rank(rank), 0, &events).is_ok());
    }
    let written = writer.finish().unwrap_or_default();
    let again = Trace::read(&*written).map(|trace| trace.ranks);
    let events = |ranks: &[weft_trace::RankTrace]| {
        ranks.iter().map(|rank| rank.events.clone()).collect::<Vec<_>>()
    };
    assert_eq!(again.ok().map(|ranks| events(&ranks)), Some(events(&trace.ranks)));
}

/// The words of an event, or any others.
pub fn event(data: &[u8]) {
    let mut words: EventWords = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(data.chunks_exact(8)) {
        *word = u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte]));
    }
    if let Some(event) = Event::of_words(&words) {
        assert_eq!(Event::of_words(&event.to_words()), Some(event));
    }
}

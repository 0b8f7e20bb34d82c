//! Fuzz targets for messages of a search (`testing/fuzz`): any bytes, and a panic if a parser does
//! what it must not.

use crate::format::{Header, Kind, Tally, jobs};
use crate::game::Game;
use crate::job::{JOB_BYTES, Job, Layout};
use crate::minimax::items::{Item, request_bytes};
use weft_endpoint::Rank;

/// Sender of all messages.
const FROM: Rank = Rank(1);

/// A message of a search for solutions: what was read is within what there is, and written again is
/// the same but for bytes that say nothing.
pub fn jobs_and_counters(data: &[u8]) {
    let Ok((header, rest)) = Header::parse(FROM, data) else { return };
    let mut written = header.emit();
    written[1] = data[1];
    written[12..].copy_from_slice(&data[12..16]);
    assert_eq!(written, data[..16]);
    match header.kind {
        Kind::Jobs => {
            let layout = Layout::new(9, 4);
            for job in jobs(FROM, rest).unwrap_or_default() {
                let job = Job(*job);
                assert_eq!(layout.position(&job).len(), 9);
                // What is no rank's job is refused before its moves are asked for.
                if usize::from(job.depth()) <= layout.room() {
                    assert_eq!(layout.path(&job).len(), usize::from(job.depth()));
                    assert_eq!(layout.last(&job), layout.path(&job).last().copied());
                }
            }
            assert_eq!(jobs(FROM, rest).is_ok(), rest.len().is_multiple_of(JOB_BYTES));
        }
        Kind::Answer => {
            if let Ok(tally) = Tally::parse(FROM, rest) {
                assert_eq!(tally.emit(), rest);
                assert_eq!(Tally::parse(FROM, &tally.with(tally).emit()), Ok(tally.with(tally)));
            }
        }
        _ => {}
    }
}

/// Requests, answers and cuts of a search for values of this game.
pub fn items<G: Game>(data: &[u8]) {
    let mut rest = data;
    while !rest.is_empty() {
        let before = rest;
        let Ok(item) = Item::<G>::parse(FROM, &mut rest) else { return };
        let taken = &before[..before.len() - rest.len()];
        assert!(!taken.is_empty() && taken.len() <= request_bytes::<G>().max(14));
        let mut written = Vec::new();
        item.emit(&mut written);
        assert_eq!(written, taken);
        if let Item::Answer(answer) = item {
            assert!(answer.value.is_none_or(|value| (-G::MOST..=G::MOST).contains(&value)));
        }
    }
}

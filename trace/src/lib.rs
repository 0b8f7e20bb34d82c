//! Traces: what happened in a run, and when, as its ranks wrote it down.
//!
//! A rank writes events of a fixed size into a ring in memory ([`Event::to_words`]). The process
//! that started it takes them from there, and writes them to a file ([`Writer`]), which `weft
//! report` reads ([`Trace::read`]).
//!
//! | module | what |
//! |---|---|
//! | [`event`] | events, and the words that they are in a ring and in a file |
//! | [`file`] | files of events, and what a whole trace holds |
//! | [`Recorded`] | what people are told of a trace that was written |
//! | [`PollRecorder`] | waits of programs that poll |
//! | [`builder`] | traces made by hand, for tests |

#![forbid(unsafe_code)]

pub mod builder;
pub mod event;
pub mod file;
mod polls;
mod recorded;

pub use builder::Builder;
pub use event::{Event, NamedThing, PacketEvent, Recorder, TEXT_BYTES, What, record_text};
pub use file::{BadTrace, MOST_EVENTS, RankTrace, Run, Trace, Writer, part_of};
pub use polls::PollRecorder;
pub use recorded::Recorded;

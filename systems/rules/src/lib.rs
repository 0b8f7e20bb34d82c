//! Rules of games that are no part of the program: written as a text, or in C.
//!
//! A [`Source`] is a text of rules, a C file, or a compiled library. A text is checked and becomes
//! C, C is compiled, and a library is loaded for good. Its positions, [`Loaded`], are a
//! [`weft_search::Game`] and a [`weft_search::Puzzle`] like those written in Rust.
//!
//! | module | what |
//! |---|---|
//! | `lexer`, `parser`, `diagnostics` | the language; the guide's page on rules is its reference |
//! | `model`, `geometry`, `numbering`, `storage` | what a text means |
//! | `emit` | the C of it |
//! | `compile` | the C compiler |
//! | `library` | a library and its table, `weft-game.h` |
//! | `loaded` | positions, as a search wants them |
//! | `source`, `shipped` | where rules come from |
//!
//! May use the search, and nothing of Weft below it. Keeps: only `library` has `unsafe` code; bytes
//! that a peer sent are a position only if the rules say so.

#![deny(unsafe_code)]

mod compile;
mod diagnostics;
mod emit;
mod error;
mod geometry;
mod lexer;
mod library;
mod loaded;
mod model;
mod numbering;
mod parser;
mod shipped;
mod source;
mod storage;

pub use diagnostics::{Diagnostic, Span};
pub use emit::emit;
pub use error::Error;
pub use library::Library;
pub use loaded::{GameVisitor, Loaded, Moves, PuzzleVisitor, Written};
pub use model::Rules;
pub use parser::parse;
pub use shipped::{SHIPPED, shipped};
pub use source::{Digest, Source};

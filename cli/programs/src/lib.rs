//! Commands that `weft` needs for no job of its own, and is smaller without: [`inspect`], which
//! says what jobs do and did, and [`sim`], which simulates them. Each is a program, `weft-inspect`
//! and `weft-sim`, which `weft` becomes; `weft-programs` is them and all other programs in one
//! file. [`pages`] are the manual pages of them all, and what shells complete.

#![forbid(unsafe_code)]

pub mod inspect;
pub mod pages;
pub mod sim;

//! Commands that `weft` needs for no job of its own, and is smaller without: [`sim`], which
//! simulates jobs, is a program, `weft-sim`, which `weft` becomes; `weft-programs` is it and all
//! other programs in one file, [`weft_inspect`] among them. [`pages`] are the manual pages of them
//! all, and what shells complete.

#![forbid(unsafe_code)]

pub mod pages;
pub mod sim;

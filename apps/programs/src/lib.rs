//! Parallel programs, each a module with its problem, its algorithm, its check, and its options.
//! Their common code is in `weft-app-common`; none uses another.
//!
//! | module | what | on |
//! |---|---|---|
//! | [`qr`] | QR factorization with column pivoting (thesis 8.5.8) | messages |
//! | [`sor`] | red-black successive overrelaxation (thesis 8.5.10) | messages |
//! | [`awari`] | endgame databases of Awari, by retrograde analysis (thesis 8.5.3) | objects |
//! | [`leq`] | linear equations, by iteration (thesis 8.5.6) | objects |
//! | [`tsp`] | the travelling salesman, by branch and bound | objects |
//! | [`puzzle`] | the 15-puzzle, by IDA* (thesis 8.5.7) | search |
//! | [`games`] | Othello, Connect Four, games whose rules are text: solved and played | search |
//! | [`barnes`] | gravity, by Barnes and Hut (thesis 8.5.4) | regions |
//! | [`fft`] | a Fourier transform (thesis 8.5.5) | regions |
//! | [`lu`] | LU factorization in blocks | regions |
//! | [`radix`] | radix sort (thesis 8.5.9) | regions |
//! | [`water`] | molecules of water | regions |
//!
//! All-pairs shortest paths are a crate of their own, `weft-asp`: the demo builds it alone.

#![forbid(unsafe_code)]

pub mod awari;
pub mod barnes;
pub mod fft;
pub mod games;
pub mod leq;
pub mod lu;
pub mod puzzle;
pub mod qr;
pub mod radix;
pub mod sor;
pub mod tsp;
pub mod water;

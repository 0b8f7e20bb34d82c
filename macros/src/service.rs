//! `#[weft::service]`: from a trait to a client and a server.

mod expand;
mod read;

pub use expand::expand;
pub use read::{Options, Service};

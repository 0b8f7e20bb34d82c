//! Typed services: what `#[weft::service]` makes of a trait stands on this.
//!
//! Arguments and results travel as `postcard` writes them, after four bytes that name the method by
//! a hash of its signature, so that programs of different versions refuse each other instead of
//! taking one method's bytes for another's. A method's `Result` is a value like any other on the
//! wire.
//!
//! Methods run where messages are polled, as handlers of ports do, and one that does not wait runs
//! to its end there. An `async` method that waits (for a lock, a call of its own, a time) becomes a
//! continuation, and other requests are served meanwhile. So a trait of plain methods serves
//! requests one at a time and in order; one with an `async` method keeps that order up to where
//! methods wait.
//!
//! ```no_run
//! #[weft::service]
//! trait Bank {
//!     async fn move_to(&self, to: u32, sum: u64) -> Result<u64, String>;
//!     fn balance(&self, of: u32) -> u64;
//! }
//!
//! struct Empty;
//!
//! impl Bank for Empty {
//!     async fn move_to(&self, _to: u32, sum: u64) -> Result<u64, String> {
//!         Err(format!("{sum} short"))
//!     }
//!     fn balance(&self, _of: u32) -> u64 {
//!         0
//!     }
//! }
//!
//! # fn main() -> weft::Result<()> {
//! # let weft = weft::join()?;
//! let _server = BankServer::new(&weft, Empty)?;
//! let bank = BankClient::new(&weft)?;
//! let (first, second) = (bank.at(1).balance(7), bank.at(2).balance(7));
//! println!("{}", first.wait()? + second.wait()?);
//! # Ok(())
//! # }
//! ```
//! What cannot be a service does not compile, with the error where it stands:
//! ```compile_fail
//! #[weft::service]
//! trait Borrows {
//!     fn length(&self, text: &str) -> u64; // an argument travels to another rank, so it is owned
//! }
//! ```
//! ```compile_fail
//! #[weft::service]
//! trait Changes {
//!     fn add(&mut self, what: u64); // a method of a service takes `&self`: calls may overlap
//! }
//! ```
//! ```compile_fail
//! #[weft::service]
//! trait Aliased {
//!     fn read(&self) -> std::io::Result<u64>; // write both types: `Result<T, E>`
//! }
//! ```
//! ```compile_fail
//! #[weft::service(nmae = "bank")] // the only option is `name = "..."`
//! trait Misspelt {
//!     fn nothing(&self);
//! }
//! ```
//!
//! | module | what |
//! |---|---|
//! | `client` | [`Caller`], [`Reply`]: from arguments to a result |
//! | `server` | [`Server`], [`Incoming`], [`Answer`]: from a request to a method and back |
//! | `error` | [`CallError`] |

mod client;
mod error;
mod server;

pub use client::{Caller, Reply};
pub use error::CallError;
pub use server::{Answer, Incoming, Server};

use crate::{Error, Message, Result};
use serde::de::DeserializeOwned;

/// Bytes that most requests and replies fit into, on the stack.
const SMALL: usize = 512;

/// A method, as both ends know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Stands for name, arguments and result.
    pub hash: u32,
    /// For errors.
    pub name: &'static str,
}

/// Calls `send` with the bytes of `value`, after those of `head`.
fn encoded<T: serde::Serialize, O>(
    value: &T,
    head: &[u8],
    send: impl FnOnce(&[&[u8]; 2]) -> O,
) -> std::result::Result<O, postcard::Error> {
    let mut small = [0; SMALL];
    match postcard::to_slice(value, &mut small) {
        Ok(bytes) => Ok(send(&[head, bytes])),
        Err(postcard::Error::SerializeBufferFull) => {
            postcard::to_stdvec(value).map(|bytes| send(&[head, &bytes]))
        }
        Err(error) => Err(error),
    }
}

/// All that is left of `message` as a `T`: read where it is if it has arrived in one piece.
fn decoded<T: DeserializeOwned>(message: &mut Message, what: &'static str) -> Result<T> {
    let rank = message.source();
    let all = message.remaining();
    let value = if message.chunk()?.len() == all {
        whole(message.chunk()?)
    } else {
        whole(&message.read_to_vec()?)
    };
    value.map_err(|error| Error::Decoding { rank, what, error })
}

/// Does what [`decoded`] does, waiting for what has not arrived without blocking.
async fn decoded_async<T: DeserializeOwned>(
    message: &mut Message,
    what: &'static str,
) -> Result<T> {
    if message.at_hand().len() < message.remaining() {
        let (rank, bytes) = (message.source(), message.bytes().await?);
        return whole(&bytes).map_err(|error| Error::Decoding { rank, what, error });
    }
    decoded(message, what)
}

/// A `T` that takes all of `bytes`.
fn whole<T: DeserializeOwned>(bytes: &[u8]) -> std::result::Result<T, postcard::Error> {
    match postcard::take_from_bytes(bytes)? {
        (value, []) => Ok(value),
        _ => Err(postcard::Error::DeserializeBadEncoding),
    }
}

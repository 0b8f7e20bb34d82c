//! Records of the rank of a host that takes its interface, for all others, in the process manager's
//! store.
//!
//! ```text
//! Without:  why (text)
//! Taken:    interface (text) | its address (6)
//! Met:      hosts that were not met (2) x host (2)
//!           | hosts whose copied greeting was not heard (2) x host (2)
//! Ready:    nothing
//! Reached:  findings over UDP (`messages::reached`)
//! ```
//! in the frame of [`crate::messages`].

use weft_xdp::MacAddress;

use crate::messages::bytes::{Body, begin, open, put_text};
use crate::messages::hosts::HOSTS_MAX;
use crate::messages::reached::Reached;
use crate::messages::{BadMessage, cut};

const WITHOUT: u16 = 36;
const TAKEN: u16 = 37;
const MET: u16 = 38;
const READY: u16 = 39;
const REACHED: u16 = 40;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// This host cannot have AF_XDP, or had better not; why.
    Without(String),
    /// Its interface is taken.
    Taken {
        /// The interface's name.
        interface: String,
        /// Its address.
        address: MacAddress,
    },
    /// It has greeted the others.
    Met {
        /// The hosts that have not answered.
        missed: Vec<u16>,
        /// Those whose greeting to all has not been heard.
        uncopied: Vec<u16>,
    },
    /// Its ranks have ports.
    Ready,
    /// It has tried to reach the others over UDP.
    Reached(Reached),
}

impl Record {
    /// The message as bytes; a reason is cut to what a text may have.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            Record::Without(why) => {
                let mut bytes = begin(WITHOUT);
                put_text(&mut bytes, cut(why));
                bytes
            }
            Record::Taken { interface, address } => {
                let mut bytes = begin(TAKEN);
                put_text(&mut bytes, interface);
                bytes.extend(address.0);
                bytes
            }
            Record::Met { missed, uncopied } => {
                let mut bytes = begin(MET);
                for hosts in [missed, uncopied] {
                    bytes.extend((hosts.len() as u16).to_le_bytes());
                    hosts.iter().for_each(|host| bytes.extend(host.to_le_bytes()));
                }
                bytes
            }
            Record::Ready => begin(READY),
            Record::Reached(reached) => {
                let mut bytes = begin(REACHED);
                reached.put(&mut bytes);
                bytes
            }
        }
    }

    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, mut body) = open(bytes)?;
        let message = match kind {
            WITHOUT => Record::Without(body.text()?),
            TAKEN => Record::Taken { interface: body.text()?, address: MacAddress(body.take()?) },
            MET => Record::Met {
                missed: body.list(HOSTS_MAX, Body::u16)?,
                uncopied: body.list(HOSTS_MAX, Body::u16)?,
            },
            READY => Record::Ready,
            REACHED => Record::Reached(Reached::take(&mut body)?),
            other => return Err(BadMessage::Kind(other)),
        };
        body.end()?;
        Ok(message)
    }
}

#[cfg(test)]
mod tests;

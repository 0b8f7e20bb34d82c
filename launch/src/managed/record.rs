//! Records of the rank of a host that takes its interface, for all others, in the process manager's
//! store.

use serde::{Deserialize, Serialize};
use weft_xdp::MacAddress;

use crate::messages::parts::text;
use crate::messages::reached::Reached;
use crate::messages::{BadMessage, HOSTS_MAX, Message, at_most};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record {
    /// This host cannot have AF_XDP, or had better not; why.
    Without(#[serde(with = "text")] String),
    /// Its interface is taken.
    Taken {
        /// The interface's name.
        #[serde(with = "text")]
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

impl Message for Record {
    const KIND: u16 = 9;

    fn check(&self) -> Result<(), BadMessage> {
        match self {
            Record::Met { missed, uncopied } => {
                at_most(missed, HOSTS_MAX)?;
                at_most(uncopied, HOSTS_MAX)
            }
            Record::Reached(reached) => reached.check(),
            Record::Without(_) | Record::Taken { .. } | Record::Ready => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;

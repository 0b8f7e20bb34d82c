//! Parts of messages that travel otherwise than their types say, as modules for `serde(with)`.

use rustix::process::Signal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use weft_datagram::seal::Secret;
use weft_link::status::Awaited;
use weft_wire::Rank;

use super::bounds::{TEXT_BYTES_MAX, cut};
use super::checks::ensure;
use super::format::BadMessage;
use super::options::{Options, check_options};

/// Texts: cut when they are written to what is taken when they are read.
pub(crate) mod text {
    use super::*;

    pub fn serialize<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
        cut(text).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        let text = <&str>::deserialize(from)?;
        let fits = text.len() <= TEXT_BYTES_MAX;
        fits.then(|| text.to_owned()).ok_or_else(|| D::Error::custom("a text is too long"))
    }
}

/// Any bytes, all at once.
pub(crate) mod bytes {
    use super::*;

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        <&[u8]>::deserialize(from).map(<[u8]>::to_vec)
    }
}

/// Options, which have different names.
pub(crate) mod options {
    use super::*;

    pub fn serialize<S: Serializer>(options: &Options, to: S) -> Result<S::Ok, S::Error> {
        assert_eq!(check_options(options), Ok(()), "options are checked before a job starts");
        options.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
        let all = Vec::<(String, String)>::deserialize(from)?;
        let count = all.len();
        let options = Options::from_iter(all);
        let differ = options.len() == count;
        differ.then_some(options).ok_or_else(|| D::Error::custom("two options have one name"))
    }
}

/// A job's secret, which shows itself nowhere else.
pub(crate) mod secret {
    use super::*;

    pub fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
        secret.expose().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        <[u8; 16]>::deserialize(from).map(Secret::new)
    }
}

/// A signal that has a name, as its number.
pub(crate) mod signal {
    use super::*;

    pub fn serialize<S: Serializer>(signal: &Signal, to: S) -> Result<S::Ok, S::Error> {
        signal.as_raw().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Signal, D::Error> {
        let signal = Signal::from_named_raw(i32::deserialize(from)?);
        signal.ok_or_else(|| D::Error::custom("no signal has this number"))
    }
}

/// A wait, as ranks write it into the memory that they share, which bounds it.
pub(crate) mod wait {
    use super::*;

    pub fn serialize<S: Serializer>(awaited: &Awaited, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&awaited.emit())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Awaited, D::Error> {
        let awaited = Awaited::parse(<&[u8]>::deserialize(from)?);
        awaited.ok_or_else(|| D::Error::custom("these bytes say no wait"))
    }
}

/// Writes a stack, cut to what a text may have.
pub(crate) fn cut_stack<S: Serializer>(stack: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    stack.as_deref().map(cut).serialize(to)
}

/// Writes the stacks of some ranks, cut likewise.
pub(crate) fn cut_stacks<S: Serializer>(
    stacks: &[(Rank, String)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(stacks.iter().map(|(rank, stack)| (rank, cut(stack))))
}

/// Checks the length of a stack.
pub(crate) fn check_stack(stack: &str) -> Result<(), BadMessage> {
    ensure(stack.len() <= TEXT_BYTES_MAX, "stack")
}

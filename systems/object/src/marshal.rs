//! Arguments and results as bytes: what [`crate::object`] generates for each operation stands on
//! this (thesis 7.1.3, fig. 7.6).
//!
//! Arrays of numbers (`&[f64]`, `Vec<u8>`, ...) are gathered where they lie, in front of everything
//! else, so that they are aligned where they land and used there. All other arguments follow as
//! `postcard` writes them, with the lengths of the arrays among them, and then four bytes that say
//! how long that part is:
//! ```text
//! array ... array | values, lengths | u32
//! ```
//! A result that is an array of numbers is its bytes; any other is what `postcard` writes.

use crate::error::{Error, Result};
use bytemuck::Pod;
use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Bytes of the length of the values.
const LENGTH: usize = size_of::<u32>();

/// Bytes of values; few are kept where they are.
pub type Values = SmallVec<[u8; SHORT + LENGTH]>;

/// Bytes of values that are few.
const SHORT: usize = 60;

/// The values of an invocation, and their length, which follow its arrays.
///
/// # Errors
/// [`Error::Unwritable`]: a type whose `Serialize` fails.
pub fn values(values: &impl Serialize) -> Result<Values> {
    let mut bytes: Values = match postcard::to_slice(values, &mut [0; SHORT]) {
        Ok(short) => SmallVec::from_slice(short),
        Err(_) => written(values)?.into(),
    };
    let length =
        u32::try_from(bytes.len()).map_err(|error| Error::Unwritable(error.to_string()))?;
    bytes.extend_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Arguments on their way in.
pub struct Arguments<'a> {
    arrays: &'a [u8],
    values: &'a [u8],
}

impl<'a> Arguments<'a> {
    /// The arguments in these bytes; `None` if they are none.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (rest, length) = bytes.split_last_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (arrays, values) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
        Some(Arguments { arrays, values })
    }

    /// The values, of which none may be left over.
    pub fn values<V: Deserialize<'a>>(&self) -> Option<V> {
        read(self.values)
    }

    /// The next array, of so many numbers: where it lies, if it is aligned there.
    pub fn array<P: Pod>(&mut self, count: u32) -> Option<Cow<'a, [P]>> {
        let bytes = usize::try_from(count).ok()?.checked_mul(size_of::<P>())?;
        let (array, rest) = self.arrays.split_at_checked(bytes)?;
        self.arrays = rest;
        Some(match bytemuck::try_cast_slice(array) {
            Ok(aligned) => Cow::Borrowed(aligned),
            Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(array)),
        })
    }

    /// True if no array is left over.
    pub fn is_read(&self) -> bool {
        self.arrays.is_empty()
    }
}

/// Bytes of an array.
pub fn array<P: Pod>(array: &[P]) -> &[u8] {
    bytemuck::cast_slice(array)
}

/// Number of elements of an array, as it travels.
///
/// # Errors
/// [`Error::Unwritable`]: more than 2^32 of them.
pub fn count<P>(array: &[P]) -> Result<u32> {
    u32::try_from(array.len()).map_err(|error| Error::Unwritable(error.to_string()))
}

/// Appends a result.
///
/// # Panics
/// The type's `Serialize` fails. The object is broken then, as by any panic of an operation.
pub fn put(result: &impl Serialize, into: &mut Vec<u8>) {
    match written(result) {
        Ok(bytes) => into.extend(bytes),
        Err(error) => panic!("{error}"),
    }
}

/// Appends a result that is an array; becomes it, if there is nothing before it.
pub fn put_array<P: Pod>(result: Vec<P>, into: &mut Vec<u8>) {
    match bytemuck::allocation::try_cast_vec(result) {
        Ok(bytes) if into.is_empty() => *into = bytes,
        Ok(bytes) => into.extend_from_slice(&bytes),
        Err((_, result)) => into.extend_from_slice(array(&result)),
    }
}

/// A result from its bytes.
///
/// # Errors
/// [`Error::Unreadable`]: the ranks run different programs.
pub fn take<V: DeserializeOwned>(bytes: &[u8]) -> Result<V> {
    read(bytes).ok_or(Error::Unreadable)
}

/// A result that is an array, from its bytes.
///
/// # Errors
/// [`Error::Unreadable`]: the ranks run different programs.
pub fn take_array<P: Pod>(bytes: Vec<u8>) -> Result<Vec<P>> {
    match bytemuck::allocation::try_cast_vec(bytes) {
        Ok(same) => Ok(same),
        Err((_, bytes)) if bytes.len().is_multiple_of(size_of::<P>()) => {
            Ok(bytemuck::pod_collect_to_vec(&bytes))
        }
        Err(_) => Err(Error::Unreadable),
    }
}

/// State of an object; empty, which no object has, if its `Serialize` fails.
pub fn capture(state: &impl Serialize) -> Vec<u8> {
    // A byte in front, because a type without fields has a state without bytes.
    let mut bytes = vec![STATE];
    match written(state) {
        Ok(state) => bytes.extend(state),
        Err(_) => bytes.clear(),
    }
    bytes
}

/// First byte of a state.
const STATE: u8 = 1;

/// An object with this state; `None` if it is none.
pub fn restore<V: DeserializeOwned>(state: &[u8]) -> Option<V> {
    match state.split_first() {
        Some((&STATE, state)) => read(state),
        _ => None,
    }
}

fn written(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|error| Error::Unwritable(error.to_string()))
}

/// A `V` that takes all of `bytes`.
fn read<'a, V: Deserialize<'a>>(bytes: &'a [u8]) -> Option<V> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

//! Keys of doors: the name of a socket and a secret, as text, or in a file.

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Beginning of the names of doors, and of their keys as text.
const MARK: &str = "weft-door-";
/// Bytes of a key's file at most, for who reads any file.
const FILE_BYTES_MAX: u64 = 256;

/// Secret of a door.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorSecret([u8; 16]);

impl fmt::Debug for DoorSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoorSecret")
    }
}

/// Address and secret of a job's door, by which a process that was not started by the job
/// [joins](crate::Membership::find_at) it.
///
/// As text `weft-door-ADDRESS:SECRET`, in hexadecimal digits. Whoever has that and is the user of
/// the job gets in, on all hosts of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DoorKey {
    number: u64,
    secret: DoorSecret,
}

/// Reason why there is no key of a door.
#[derive(Debug, thiserror::Error)]
pub enum NoDoor {
    /// The text is no key.
    #[error(
        "{0:?} is no door: it is weft-door-ADDRESS:SECRET, or the file that `weft run --door` writes"
    )]
    Text(String),
    /// The file cannot be read.
    #[error(
        "there is no door {path:?}, which `weft run --door` writes while its job runs: {error}"
    )]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

impl DoorKey {
    /// A new key, which no other door has.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub(crate) fn draw() -> io::Result<Self> {
        let mut drawn = [0; 24];
        getrandom(&mut drawn, GetRandomFlags::empty())?;
        let (number, secret) = (drawn[..8].try_into(), drawn[8..].try_into());
        let secret = DoorSecret(secret.expect("16 of 24 bytes"));
        Ok(DoorKey { number: u64::from_le_bytes(number.expect("8 of 24 bytes")), secret })
    }

    /// The key that is this text, or that is in the file of this name.
    ///
    /// # Errors
    /// [`NoDoor`].
    pub fn find(named: &str) -> Result<Self, NoDoor> {
        if named.starts_with(MARK) && named.contains(':') {
            return named.parse();
        }
        let path = Path::new(named);
        let read = || {
            if fs::metadata(path)?.len() > FILE_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            fs::read_to_string(path)
        };
        let text = read().map_err(|error| NoDoor::File { path: path.into(), error })?;
        text.trim_end().parse().map_err(|_| NoDoor::Text(named.into()))
    }

    /// Secret that a visitor shows.
    pub(crate) fn secret(&self) -> DoorSecret {
        self.secret
    }

    /// Name of the socket.
    pub(crate) fn name(&self) -> String {
        format!("{MARK}{:016x}", self.number)
    }
}

impl fmt::Display for DoorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:032x}", self.name(), u128::from_be_bytes(self.secret.0))
    }
}

impl FromStr for DoorKey {
    type Err = NoDoor;

    fn from_str(text: &str) -> Result<Self, NoDoor> {
        let parsed = || {
            let (number, secret) = text.strip_prefix(MARK)?.split_once(':')?;
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_sound =
                (number.len(), secret.len()) == (16, 32) && digits(number) && digits(secret);
            let secret = u128::from_str_radix(secret, 16).ok()?.to_be_bytes();
            let number = u64::from_str_radix(number, 16).ok()?;
            is_sound.then_some(DoorKey { number, secret: DoorSecret(secret) })
        };
        parsed().ok_or_else(|| NoDoor::Text(text.into()))
    }
}

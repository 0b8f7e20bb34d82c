//! Side connection of two ends, beside the line that is measured.

use super::spin::{ready, spin};
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::TcpStream;

/// A connection for meeting and for exchanging results.
pub struct Side {
    stream: TcpStream,
}

impl Side {
    /// Uses this connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Side { stream })
    }

    /// Returns when the other end has called this as well, and calls `meanwhile` again and again
    /// until then.
    ///
    /// # Errors
    /// The other end has gone, or what `meanwhile` says.
    pub fn meet(&mut self, meanwhile: impl FnMut() -> Result<()>) -> Result<()> {
        self.swap([1], meanwhile).map(drop)
    }

    /// Gives the other end a number, and returns its number.
    ///
    /// # Errors
    /// The other end has gone.
    pub fn exchange(&mut self, own: f64) -> Result<f64> {
        self.swap(own.to_le_bytes(), || Ok(())).map(f64::from_le_bytes)
    }

    fn swap<const N: usize>(
        &mut self,
        own: [u8; N],
        mut meanwhile: impl FnMut() -> Result<()>,
    ) -> Result<[u8; N]> {
        self.stream.write_all(&own).context("the other end has gone")?;
        let (mut theirs, mut have) = ([0; N], 0);
        spin("side connection", || {
            match ready(self.stream.read(&mut theirs[have..]))? {
                Some(0) => bail!("the other end has gone"),
                Some(some) => have += some,
                None => meanwhile()?,
            }
            Ok((have == N).then_some(()))
        })?;
        Ok(theirs)
    }
}

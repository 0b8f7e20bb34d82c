use crate::pmi::PmiClient;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

/// A store that one process has for itself.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub own: u32,
    pub values: BTreeMap<(u32, String), Vec<u8>>,
    pub fences: u32,
}

impl PmiClient for Store {
    fn name(&self) -> &str {
        "a test"
    }

    fn rank(&self) -> u32 {
        self.own
    }

    fn ranks(&self) -> u32 {
        4
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), crate::pmi::Error> {
        self.values.insert((self.own, key.into()), value.into());
        Ok(())
    }

    fn fence(&mut self) -> Result<(), crate::pmi::Error> {
        self.fences += 1;
        Ok(())
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, crate::pmi::Error> {
        let found = self.values.get(&(rank, key.to_owned())).cloned();
        found.ok_or_else(|| crate::pmi::Error::Missing { rank, key: key.into() })
    }

    fn abort(&mut self, _: u8, _: &str) {}

    fn finalize(&mut self) -> Result<(), crate::pmi::Error> {
        Ok(())
    }

    fn launcher(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

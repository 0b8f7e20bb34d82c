//! PMIx: what Open MPI's `mpirun` and `srun --mpi=pmix` offer, through their library.

use std::os::fd::BorrowedFd;

#[allow(unsafe_code)] // Its opening paragraph says why.
mod library;

use crate::pmi::{Error, PmiClient, key_of};
use library::{Library, Process};

/// A place that a PMIx server gives.
#[derive(Debug)]
pub struct Pmix {
    library: Library,
    process: Process,
    name: String,
    ranks: u32,
}

impl Pmix {
    /// Loads the library, which connects to the server.
    /// A second time it is refused: a server's fence, among ranks of which some have finalized and
    /// begun again while others have not, may never end.
    pub fn join(before: u32) -> Result<Self, Error> {
        if before > 0 {
            return Err(Error::AlreadyJoined);
        }
        let library = Library::load().map_err(Error::Library)?;
        let process = library.init().map_err(|why| refused("PMIx_Init", why))?;
        let ranks = library.job_size(&process).map_err(|why| refused("PMIx_Get", why))?;
        let whose = if std::env::var_os("SLURM_STEP_ID").is_some() { "Slurm" } else { "Open MPI" };
        // `prterun` and others have servers too; only these two can be told apart.
        let whose = match std::env::var_os("OMPI_COMM_WORLD_SIZE") {
            None if whose == "Open MPI" => String::new(),
            _ => format!("{whose}, "),
        };
        let name = format!("PMIx ({whose}library {})", library.version());
        Ok(Pmix { library, process, name, ranks })
    }
}

/// The version of the library, or why it cannot be used.
pub fn library_version() -> Result<String, String> {
    Library::load().map(|library| library.version().to_owned())
}

fn refused(command: &str, why: String) -> Error {
    Error::Refused { command: command.into(), why }
}

impl PmiClient for Pmix {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self) -> u32 {
        self.process.rank()
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        self.library.put(&key_of(0, key), value).map_err(|why| refused("PMIx_Put", why))
    }

    fn fence(&mut self) -> Result<(), Error> {
        self.library.fence(&self.process).map_err(|why| refused("PMIx_Fence", why))
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, Error> {
        let found = self.library.get(&self.process.of(rank), &key_of(0, key));
        let found = found.map_err(|why| refused("PMIx_Get", why))?;
        found.ok_or_else(|| Error::Missing { rank, key: key.into() })
    }

    fn abort(&mut self, status: u8, words: &str) {
        self.library.abort(status, words);
    }

    fn finalize(&mut self) -> Result<(), Error> {
        self.library.finalize().map_err(|why| refused("PMIx_Finalize", why))
    }

    fn launcher(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

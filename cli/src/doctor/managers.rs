//! The process manager that started this command, and those that could start a job.

use weft_launch::pmi::{Manager, detect, library_version};

use super::finding::Finding;

/// Finds the process managers.
pub(super) fn all() -> Vec<Finding> {
    vec![who_started_this(), pmix_library()]
}

fn who_started_this() -> Finding {
    const NAME: &str = "process manager";
    match detect() {
        Ok(None) => {
            Finding::ok(NAME, "none started this; mpiexec.hydra, mpirun and srun can start jobs")
        }
        Ok(Some(Manager::Pmi1)) => {
            Finding::ok(NAME, "one that speaks PMI-1 started this (hydra, and others)")
        }
        Ok(Some(Manager::Pmi2)) => Finding::ok(NAME, "one that speaks PMI-2 started this (Slurm)"),
        Ok(Some(Manager::Pmix)) => {
            Finding::ok(NAME, "one with PMIx started this (Open MPI's mpirun, or Slurm)")
        }
        Err(error) => Finding::problem(NAME, error.to_string(), "see docs/guide/clusters.md"),
    }
}

fn pmix_library() -> Finding {
    const NAME: &str = "libpmix.so.2";
    match library_version() {
        Ok(version) => {
            Finding::ok(NAME, format!("version {version}, for mpirun and srun --mpi=pmix"))
        }
        Err(_) => Finding::ok(NAME, "not here; only mpirun and srun --mpi=pmix would need it"),
    }
}

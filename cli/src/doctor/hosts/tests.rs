use super::*;
use crate::doctor::finding::Status;

#[test]
fn namespaces_need_two_capabilities() {
    let both = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    assert_eq!(namespaces(both).status, Status::Ok);
    assert_eq!(namespaces(CapabilitySet::NET_ADMIN).status, Status::Absent);
}

#[test]
fn other_launchers_are_known_by_what_they_leave() {
    let found = |names: &'static [&str]| starter(move |name| names.contains(&name)).detail;
    assert_eq!(
        found(&["PMIX_NAMESPACE", "SLURM_JOB_ID"]),
        "PMIx (Open MPI's mpirun, srun --mpi=pmix)"
    );
    assert!(found(&["PMI_FD"]).starts_with("PMI-1 or PMI-2"));
    assert_eq!(found(&["SLURM_JOB_ID"]), "Slurm, without PMI");
    assert_eq!(found(&[]), "none around this process");
}

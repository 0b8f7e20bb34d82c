use super::*;
use crate::doctor::Status;

#[test]
fn what_is_missing_for_raw_frames_is_named() {
    let finding = raw_frames(CapabilitySet::NET_RAW | CapabilitySet::SYS_ADMIN);
    assert_eq!(finding.status, Status::Absent);
    assert_eq!(finding.detail, "not permitted: CAP_NET_ADMIN, CAP_BPF missing");
    let all = CapabilitySet::NET_RAW | CapabilitySet::NET_ADMIN | CapabilitySet::BPF;
    assert_eq!(raw_frames(all).status, Status::Ok);
}

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

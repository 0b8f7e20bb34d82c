use super::*;
use crate::doctor::finding::Status;
use std::path::Path;

fn advice(finding: &Finding) -> &str {
    finding.advice.as_deref().unwrap_or_default()
}

#[test]
fn libfabric_may_be_too_old() {
    let seen = |version| Ok(fabric::Seen { version, refused: None, listed: None });
    let of = |version| of_library(Path::new("libfabric.so.1"), &seen(version));
    for (version, status) in [
        ((0, 99), Status::Problem),
        ((1, 8), Status::Problem),
        ((1, 9), Status::Ok),
        ((1, 17), Status::Ok),
        ((2, 0), Status::Ok),
    ] {
        assert_eq!(of(version).status, status, "{version:?}");
    }
    let old = of((1, 8));
    assert!(old.detail.contains("version 1.8, too old"), "{old:?}");
    assert_eq!(advice(&old), "install libfabric 1.9 or later");
    let missing = of_library(Path::new("l"), &Err("l: no such file".into()));
    assert!(missing.status == Status::Problem && missing.detail == "l: no such file");
}

#[test]
fn misspelt_providers_are_named() {
    let of = |value: &str| of_choice(Some(value.into()));
    for fine in ["weft", "WEFT", "tcp,weft", "^tcp,shm", ""] {
        assert_eq!(of(fine).status, Status::Ok, "{fine}");
    }
    assert_eq!(of_choice(None).status, Status::Ok);
    let misspelt = of("wefft");
    assert_eq!(misspelt.detail, "no provider is called \"wefft\"; \"weft\" is the nearest name");
    assert_eq!(
        advice(&misspelt),
        "unset FI_PROVIDER, or export FI_PROVIDER=weft (weft mpirun does)"
    );
    assert!(of("tpc").detail.ends_with("\"tcp\" is the nearest name"));
    assert!(of("tcp;ofi_rmx").detail.ends_with("\"ofi_rxm\" is the nearest name"));
    for (others, said) in [
        ("tcp", "tcp, and so not weft"),
        ("somebodys", "somebodys, and so not weft"),
        ("^weft", "^weft takes weft away"),
    ] {
        let finding = of(others);
        assert_eq!((finding.status, finding.detail.as_str()), (Status::Problem, said));
    }
}

#[test]
fn the_provider_is_where_libfabric_looks() {
    let with = tempfile::tempdir().unwrap();
    std::fs::write(with.path().join(FILE), "").unwrap();
    let found = Ok(Provider { folder: "/p".into() });
    assert_eq!(of_provider(Some(with.path().into()), &found).status, Status::Ok);
    let unsaid = of_provider(None, &found);
    assert!(unsaid.status == Status::Ok && unsaid.detail.ends_with("export FI_PROVIDER_PATH=/p"));
    let wrong = of_provider(Some("/proc/nowhere".into()), &found);
    assert_eq!(wrong.detail, "FI_PROVIDER_PATH is /proc/nowhere, where there is no libweft-fi.so");
    assert_eq!(advice(&wrong), "export FI_PROVIDER_PATH=/p (weft mpirun does)");
    for listed in [None, Some("/proc/nowhere".into())] {
        let nowhere = of_provider(listed, &Err("it is nowhere".into()));
        assert_eq!((nowhere.status, nowhere.detail.as_str()), (Status::Problem, "it is nowhere"));
    }
}

#[test]
fn a_provider_has_to_load_and_to_be_offered() {
    let provider = Provider { folder: "/p".into() };
    let of = |refused: Option<&str>, listed| {
        let seen = fabric::Seen { version: (1, 17), refused: refused.map(str::to_owned), listed };
        fabric_and_provider(&provider, &seen)
    };
    assert_eq!(of(None, None), None, "a libfabric that is too old is not asked");
    assert_eq!(of(None, Some(true)).unwrap().status, Status::Ok);
    let refused = of(Some("file too short"), Some(false)).unwrap();
    assert_eq!(refused.detail, "/p/libweft-fi.so does not load: file too short");
    let not_offered = of(None, Some(false)).unwrap();
    assert!(advice(&not_offered).starts_with("FI_LOG_LEVEL=warn FI_PROVIDER_PATH=/p fi_info"));
}

#[test]
fn settings_that_contradict_are_named() {
    let of = |stack, set: &'static [(&str, &str)]| {
        of_settings(stack, move |name| {
            set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into())
        })
    };
    assert_eq!(of(Stack::OpenMpi, &[]).status, Status::Ok);
    assert_eq!(of(Stack::OpenMpi, &[("OMPI_MCA_pml", "cm")]).status, Status::Ok);
    let other = of(Stack::OpenMpi, &[("OMPI_MCA_pml", "ob1")]);
    assert_eq!(other.detail, "OMPI_MCA_pml is ob1, where Weft needs cm");
    assert_eq!(advice(&other), "unset OMPI_MCA_pml (weft mpirun sets it right)");
    let excluded = of(Stack::OpenMpi, &[("OMPI_MCA_mtl_ofi_provider_exclude", "tcp,weft")]);
    assert_eq!(advice(&excluded), "unset OMPI_MCA_mtl_ofi_provider_exclude");
    let netmod = of(Stack::Mpich, &[("MPIR_CVAR_CH4_NETMOD", "ucx")]);
    assert_eq!(netmod.detail, "MPIR_CVAR_CH4_NETMOD is ucx, where Weft needs ofi");
    assert_eq!(of(Stack::Mpich, &[("OMPI_MCA_pml", "ob1")]).status, Status::Ok);
    let fabrics = of(Stack::IntelMpi, &[("I_MPI_FABRICS", "shm:ofi")]);
    assert_eq!(fabrics.detail, "I_MPI_FABRICS is shm:ofi, where Weft needs ofi");
}

use super::*;

fn names(only: &[&str]) -> Vec<&'static str> {
    let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
    chosen(&only).unwrap().iter().map(|way| way.name()).collect()
}

#[test]
fn tcp_comes_first_whoever_is_asked_for() {
    assert_eq!(names(&[]), ["open-mpi", "weft-udp", "weft-xdp"]);
    assert_eq!(names(&["weft-xdp"]), ["open-mpi", "weft-xdp"]);
    let error = chosen(&["ucx".to_owned()]).unwrap_err().to_string();
    assert_eq!(error, "--only ucx: whole programs are run by open-mpi, weft-udp, weft-xdp");
}

#[test]
fn settings_say_how_programs_are_run() {
    let tcp = Way::Tcp.settings(Setting::SharedCores);
    assert!(tcp.starts_with("mpirun.openmpi --allow-run-as-root "), "{tcp}");
    assert!(tcp.ends_with(" --mca mpi_yield_when_idle 1 --host a:2,b:2 -n 4"), "{tcp}");
    assert!(!Way::Tcp.settings(Setting::OwnCores).contains("yield"));
    let udp = Way::Udp.settings(Setting::OwnCores);
    assert!(udp.starts_with("WEFT_LINK=udp weft mpirun --stack open-mpi "), "{udp}");
    assert!(udp.ends_with(" --mca plm_rsh_agent RSH --host a:1,b:1 -n 2"), "{udp}");
    for way in Way::ALL {
        assert!(!way.settings(Setting::OwnCores).contains('{'));
    }
}

#[test]
fn ranks_have_a_core_each_or_share_two() {
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path()).unwrap();
    for (setting, rank, cores) in
        [(Setting::OwnCores, "0", "0"), (Setting::SharedCores, "3", "0,1")]
    {
        let text = std::fs::read_to_string(folder.path().join(script(setting))).unwrap();
        let cores_in = text.replace("\"$OMPI_COMM_WORLD_RANK\"", rank);
        assert!(cores_in.contains(&format!("exec taskset -c {cores} ")), "{text}");
    }
}

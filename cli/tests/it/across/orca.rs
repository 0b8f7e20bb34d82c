//! Orca programs on two hosts: what they print is what they print on one rank.

use super::*;

/// Programs, and where what they print may differ: there are several shortest tours.
const PROGRAMS: [(&str, Option<&str>); 5] = [
    ("asp", None),
    ("leq", None),
    ("tsp", Some(", by way of")),
    ("counter", None),
    ("awari", None),
];

/// Source of a program of `systems/orca`.
fn source(name: &str) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/orca/programs");
    programs.join(name).with_extension("orca")
}

/// A program that `orcac build` has made, in a folder.
fn compiled(cluster: &Cluster, name: &str, folder: &TempDir) -> PathBuf {
    let program = folder.path().join(name);
    let mut orcac = cluster.host(0).command(common::built("orcac"));
    let output = orcac.arg("build").arg(source(name)).arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    program
}

#[test]
fn programs_on_two_hosts_come_to_what_they_do_on_one_rank() {
    let Some(two) = cluster(2) else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, until) in PROGRAMS {
        let program = compiled(&two, name, &folder);
        let answer = |words: &str| {
            let text = common::run(&two, words, program.to_str().unwrap());
            match until {
                Some(until) => text.split_once(until).unwrap().0.to_owned(),
                None => text,
            }
        };
        let alone = answer("-n 1");
        assert_eq!(alone.is_empty(), name == "counter", "{name}: {alone}");
        for link in ["udp", "xdp"] {
            let here = answer(&format!("--link {link} --hosts a:2,b:2"));
            assert_eq!(here, alone, "{name} over {link}");
        }
    }
}

/// The program is where the other hosts find it, who have temporary files of their own, and
/// afterwards nowhere.
#[test]
fn orcac_runs_a_program_on_two_hosts() {
    let Some(two) = cluster(2) else { return };
    let (folder, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shells = tempfile::tempdir().unwrap();
    let shell = shell_that_hides(&two, private.path(), &shells);
    for ranks in [&[][..], &["-n", "4"]] {
        let mut orcac = two.host(0).command(common::built("orcac"));
        orcac.arg("run").args(ranks).arg(source("asp")).arg("--");
        orcac.args(UDP.split(' ')).args(["--hosts", "a:2,b:2", "--silence", "10", "--statistics"]);
        orcac.env("WEFT_RSH", &shell).env("TMPDIR", private.path());
        let output = orcac.current_dir(folder.path()).output().unwrap();
        let text = text(&output);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("sum of all distances: 100823\n"), "{text}");
        assert!(text.contains("rank 3"), "four ranks: {text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

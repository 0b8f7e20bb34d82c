use super::*;

fn parts(line: &str) -> (String, Vec<String>, String) {
    let words = split(line.split_whitespace().map(OsString::from).collect());
    let joined = |words: &[OsString]| words.join(" ".as_ref()).into_string().unwrap();
    let options = words.options.iter().map(|option| joined(&option.words)).collect();
    (joined(&words.own), options, joined(&words.program))
}

#[test]
fn the_program_comes_after_the_options_and_their_values() {
    let (own, options, program) =
        parts("-n 4 --mca btl_base_verbose 1 -H a --tag-output ./asp -n 7 --stack it");
    assert_eq!(own, "");
    assert_eq!(options, ["-n 4", "--mca btl_base_verbose 1", "-H a", "--tag-output"]);
    assert_eq!(program, "./asp -n 7 --stack it");
    let (_, options, program) = parts("-genv A 1 -np 2 -hosts a,b -l python3 job.py");
    assert_eq!(options, ["-genv A 1", "-np 2", "-hosts a,b", "-l"]);
    assert_eq!(program, "python3 job.py");
}

#[test]
fn wefts_own_options_stand_anywhere_before_the_program() {
    let (own, options, program) =
        parts("-n 4 -q --stack mpich --encrypt --dry-run --provider=/p --quiet ./asp -q");
    assert_eq!(own, "-q --stack mpich --encrypt --dry-run --provider=/p --quiet");
    assert_eq!((options, program), (vec!["-n 4".to_owned()], "./asp -q".to_owned()));
    let (own, options, program) =
        parts("--on-deadlock end --on-loss end -x A=1 --chdir / --progress-limit=5 -n 4 ./asp");
    assert_eq!(own, "--on-deadlock end --on-loss end -x A=1 --chdir / --progress-limit=5");
    assert_eq!((options, program), (vec!["-n 4".to_owned()], "./asp".to_owned()));
}

#[test]
fn two_dashes_end_the_options() {
    assert_eq!(parts("-n 2 -- -odd name").2, "-odd name");
    assert_eq!(parts("-n 2").2, "");
    assert_eq!(parts("--mca pml").1, ["--mca pml"]);
}

#[test]
fn values_are_found_by_their_place() {
    let words = split(["--mca", "pml", "ob1", "x"].map(OsString::from).into());
    let option = &words.options[0];
    assert_eq!(
        (option.name.as_str(), option.value(0), option.value(1)),
        ("mca", Some("pml".into()), Some("ob1".into()))
    );
    assert_eq!(option.value(2), None);
}

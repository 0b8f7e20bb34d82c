use super::*;

fn program(word: &str) -> Result<Program> {
    Ok(named(&[word.to_owned()])?.remove(0))
}

#[test]
fn all_that_come_along_have_names_of_their_own_and_problems() {
    let all = named(&[]).unwrap();
    let mut names: Vec<String> = all.iter().map(Program::name).collect();
    assert_eq!(names[..2], ["cg", "mg"]);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), KERNELS.len());
    assert!(all.iter().all(|program| !program.options().is_empty()));
}

#[test]
fn a_word_is_a_program_with_its_options() {
    assert_eq!(program("cg").unwrap(), named(&[]).unwrap()[0]);
    let small = program(" cg  --rows 8 ").unwrap();
    assert_eq!((small.name().as_str(), small.options()), ("cg", &split("--rows 8")[..]));
    assert_eq!(small.to_string(), "cg --rows 8");
    let shell = program("/bin/sh -c true").unwrap();
    assert_eq!((shell.name().as_str(), shell.to_string().as_str()), ("sh", "sh -c true"));
    assert_eq!(shell.compile(Path::new("/proc/nowhere")).unwrap(), "/bin/sh");
}

#[test]
fn a_word_that_is_nothing_is_refused() {
    let error = program("lu --rows 8").unwrap_err().to_string();
    assert!(error.starts_with("lu is no file, and none of the programs that come along: cg, mg, "));
    assert_eq!(program(" ").unwrap_err().to_string(), "the name of a program is empty");
}

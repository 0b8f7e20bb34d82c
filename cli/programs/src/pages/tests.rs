//! All commands have pages, which say all that is to be said, and shells complete them.

use super::*;
use std::process::{Command as Process, Stdio};

/// A page, by its name.
fn text(name: &str) -> String {
    let path = PathBuf::from(format!("man/man1/{name}.1"));
    String::from_utf8(files().remove(&path).unwrap_or_else(|| panic!("no page {name}"))).unwrap()
}

/// Names of the pages of a command and of all that people see below it, and their arguments.
fn walk(title: &str, command: &Command, seen: &mut Vec<(String, Command)>) {
    seen.push((title.to_owned(), command.clone()));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        walk(&format!("{title}-{}", below.get_name()), below, seen);
    }
}

fn all() -> Vec<(String, Command)> {
    let mut seen = vec![];
    commands().iter().for_each(|command| walk(command.get_name(), command, &mut seen));
    seen
}

#[test]
fn each_visible_command_has_a_page_with_synopsis_and_examples() {
    let files = files();
    for (name, command) in all() {
        let page = &files[&PathBuf::from(format!("man/man1/{name}.1"))];
        let page = std::str::from_utf8(page).unwrap();
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"SEE ALSO\""] {
            assert!(page.contains(&format!(".SH {section}\n")), "{name}: no {section}");
        }
        let about = command.get_about().unwrap_or_else(|| panic!("{name} says nothing"));
        assert!(!about.to_string().is_empty() && !page.contains(".SH EXTRA"), "{name}");
    }
    assert!(text("weft-run").contains(r"weft run \-n 4 \-\- asp \-\-from AMS"));
    assert!(text("weft-doctor").contains("The exit status is not 0"));
}

#[test]
fn commands_that_are_programs_of_their_own_have_their_options() {
    for (name, option) in [
        ("weft-why", "JOB"),
        ("weft-top", r"\-\-record"),
        ("weft-kill", r"\-\-signal"),
        ("weft-report", r"\-\-perfetto"),
        ("weft-sim", r"\-\-preset"),
        ("weft-bench", r"\-\-cores"),
        ("weft-compare", r"\-\-turns"),
        ("weft-application", r"\-\-ranks"),
        ("orcac-run", "NUMBER"),
    ] {
        assert!(text(name).contains(option), "{name}: no {option}");
    }
    // Whoever adds one to `weft` says here whose arguments it has.
    for command in weft().get_subcommands().filter(|command| !command.is_hide_set()) {
        let arguments: Vec<&str> =
            command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        assert_ne!(arguments, ["words"], "{} takes any words", command.get_name());
    }
    let page = text("weft");
    let order = [r"\-run(1)", r"\-doctor(1)", r"\-why(1)", r"\-sim(1)"].map(|name| page.find(name));
    assert!(order.is_sorted() && order[0].is_some(), "{order:?}");
}

#[test]
fn man_formats_all_pages_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path()).unwrap();
    for (name, _) in all() {
        let mut man = Process::new("man");
        man.args(["--warnings=w", "--encoding=UTF-8", "--troff-device=utf8", "--local-file"]);
        let page = folder.path().join(format!("man/man1/{name}.1"));
        let output = man.arg(page).env("LC_ALL", "C.UTF-8").output().unwrap();
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && warnings.is_empty(), "{name}: {warnings}");
        assert!(output.stdout.len() > 500, "{name}");
    }
}

#[test]
fn shells_complete_subcommands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path()).unwrap();
    let file = folder.path().join("bash-completion/completions/weft");
    let complete = |words: &str| {
        let last = words.split(' ').count() - 1;
        let script = format!(
            "source {}; COMP_WORDS=({words} ''); COMP_CWORD={}; _weft weft '' {}; echo ${{COMPREPLY[@]}}",
            file.display(),
            last + 1,
            words.rsplit(' ').next().unwrap(),
        );
        let mut bash = Process::new("bash");
        let output = bash.args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let offered = complete("weft");
    assert!(["run", "why", "sim"].iter().all(|word| offered.contains(word)), "{offered}");
    assert!(!offered.contains(weft_launch::stack::NAMING), "{offered}");
    let offered = complete("weft run");
    assert!(offered.contains("--hosts") && offered.contains("--on-loss"), "{offered}");
    for (path, words) in [
        ("zsh/site-functions/_weft", "#compdef weft"),
        ("zsh/site-functions/_orcac", "#compdef orcac"),
        ("fish/vendor_completions.d/weft.fish", "__fish_weft_needs_command\" -f -a \"why\""),
    ] {
        let text = fs::read_to_string(folder.path().join(path)).unwrap();
        assert!(text.contains(words), "{path}");
    }
}

//! Manual pages of all commands and programs, and what shells complete of them, made of the parsers
//! that read their arguments: so they say what is true of this build.

use anyhow::{Context, Result};
use clap::{Arg, Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Foot of a page: no date, so that pages are the same whenever they are made.
const NO_DATE: &str = "\"\"";
const SOURCE: &str = concat!("weft ", env!("CARGO_PKG_VERSION"));
/// Title of all pages.
const MANUAL: &str = "Weft";
/// First line of the text below an option list in which examples are.
const EXAMPLES: &str = "Examples:\n";

/// Writes all of them below a folder, which is `share` of an installation.
///
/// # Errors
/// A file cannot be written.
pub fn write(share: &Path) -> Result<()> {
    for (path, text) in files() {
        let path = share.join(path);
        let folder = path.parent().unwrap_or(share);
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// All of them by their paths below `share`.
pub fn files() -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for command in commands() {
        let name = command.get_name().to_owned();
        let mut completed = command.clone();
        for (shell, file) in [
            (Shell::Bash, format!("bash-completion/completions/{name}")),
            (Shell::Zsh, format!("zsh/site-functions/_{name}")),
            (Shell::Fish, format!("fish/vendor_completions.d/{name}.fish")),
        ] {
            let mut text = vec![];
            generate(shell, &mut completed, &name, &mut text);
            let _ = files.insert(file.into(), text);
        }
        let mut described = command.disable_help_subcommand(true);
        described.build();
        add_pages(&described, None, &mut files);
    }
    files
}

/// The command of people, whole, and all programs that people start.
pub fn commands() -> Vec<Command> {
    vec![
        weft(),
        weft_orca::Arguments::command(),
        weft_asp::Options::command(),
        weft_apps::awari::Options::command(),
        weft_apps::qr::Options::command(),
        weft_apps::sor::Options::command(),
        weft_apps::leq::Options::command(),
        weft_apps::tsp::Options::command(),
        weft_apps::puzzle::Options::command(),
        weft_apps::games::Options::command(),
        weft_apps::fft::Options::command(),
        weft_apps::radix::Options::command(),
        weft_apps::lu::Options::command(),
        weft_apps::barnes::Options::command(),
        weft_apps::water::Options::command(),
        example(),
    ]
}

/// `weft` with the arguments of the programs that it becomes.
fn weft() -> Command {
    let inspect = weft_inspect::command();
    let of_inspect = inspect.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let others = [
        ("sim", crate::sim::command()),
        ("bench", weft_bench::micro::command()),
        ("compare", weft_bench::compare::command()),
        ("application", weft_bench::application::Options::command()),
    ];
    let others = others.map(|(name, command)| command.name(name));
    let mut theirs: BTreeMap<String, Command> = of_inspect
        .chain(others)
        .map(|command| {
            let name = command.get_name().to_owned();
            (name.clone(), command.bin_name(format!("weft {name}")))
        })
        .collect();
    let own = weft_command::command();
    let names: Vec<String> =
        own.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().enumerate().fold(own, |weft, (place, name)| {
        weft.mut_subcommand(name, |command| {
            theirs.remove(name).unwrap_or(command).display_order(place)
        })
    })
}

/// `weft-example`, whose first word is an example.
fn example() -> Command {
    let examples = format!(
        "{EXAMPLES}  weft run -n 4 -- weft-example hello\n  weft sim -n 64 weft-example kv\n\n\
         There are these:\n{}",
        weft_examples::list()
    );
    Command::new("weft-example")
        .about("Run an example of the guide")
        .version(env!("CARGO_PKG_VERSION"))
        .arg(Arg::new("EXAMPLE").required(true).help("Name of the example"))
        .after_help(examples)
}

/// Adds the pages of a command, which is built, and of its subcommands.
fn add_pages(command: &Command, above: Option<&str>, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let title = match above {
        Some(above) => format!("{above}-{}", command.get_name()),
        None => command.get_name().to_owned(),
    };
    let mut seen: Vec<String> = above.map(str::to_owned).into_iter().collect();
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        add_pages(below, Some(&title), files);
        seen.push(format!("{title}-{}", below.get_name()));
    }
    let text = page(command, &title, seen).expect("a page is written to memory");
    let _ = files.insert(format!("man/man1/{title}.1").into(), text);
}

/// A page, with the pages to see also.
fn page(command: &Command, title: &str, seen: Vec<String>) -> std::io::Result<Vec<u8>> {
    let named = command.clone().display_name(title);
    let man = Man::new(named);
    let mut text = vec![];
    Roff::new().control("TH", [title, "1", NO_DATE, SOURCE, MANUAL]).to_writer(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (before, examples, notes) = parts(&after);
    let mut roff = Roff::new();
    section(&mut roff, "NOTES", &[before, notes].join("\n\n"));
    section(&mut roff, "EXAMPLES", examples);
    see_also(&mut roff, seen);
    roff.to_writer(&mut text)?;
    Ok(text)
}

/// Parts of a text: before its examples, the examples, and behind them.
fn parts(text: &str) -> (&str, &str, &str) {
    let (before, from) = text.split_once(EXAMPLES).unwrap_or((text, ""));
    let (examples, notes) = from.split_once("\n\n").unwrap_or((from, ""));
    (before, examples, notes)
}

/// Adds a section with these lines as they are, if there are any.
fn section(roff: &mut Roff, name: &str, text: &str) {
    let text = text.trim_matches('\n');
    if text.is_empty() {
        return;
    }
    let _ = roff.control("SH", [name]).control("nf", []);
    let _ = roff.text([roman(text)]).control("fi", []);
}

/// Adds the section that refers to other pages.
fn see_also(roff: &mut Roff, pages: Vec<String>) {
    let mut words = vec![];
    for page in pages {
        words.extend([bold(page), roman("(1), ")]);
    }
    words.extend([bold("weft"), roman("(3)")]);
    let _ = roff.control("SH", ["SEE ALSO"]).text(words);
}

#[cfg(test)]
mod tests;

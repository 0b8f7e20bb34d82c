//! The commands of `orcac`.

use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic};
use crate::format::format;
use crate::generate::{Refusal, generate};
use crate::source::{FileId, LARGEST_FILE, Sources};
use crate::{Program, front_end};

/// Diagnostics that are shown: more are not read.
const MOST_SHOWN: usize = 100;

/// Output of a command, and its success.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// For the standard output.
    pub output: String,
    /// For the standard error output: diagnostics, and files that cannot be read or written.
    pub errors: String,
    /// True if there were no errors.
    pub good: bool,
}

/// Checks the files of one program.
pub fn check_files(files: &[PathBuf], color: bool) -> Outcome {
    let errors = checked(files, color).err().unwrap_or_default();
    Outcome { output: String::new(), good: errors.is_empty(), errors }
}

/// The C of one program.
///
/// # Errors
/// Text for people.
pub fn translate(files: &[PathBuf], color: bool) -> Result<String, String> {
    let (sources, program) = checked(files, color)?;
    generate(&sources, &program).map_err(|refusal| match refusal {
        Refusal::NoMain => {
            "orcac: the program has no process `OrcaMain`, with which it would start; is a file \
             missing on the command line?\n"
                .to_owned()
        }
        Refusal::Unsupported(span, what) => {
            let message = format!("{what}: `orcac` cannot translate this yet");
            let diagnostic = Diagnostic::new(Code::Unsupported, message, span, "not translated")
                .help("write it another way; `orcac check` accepts it");
            rendered(&sources, &[diagnostic], color)
        }
    })
}

/// A checked program and its sources, or its errors as text.
fn checked(files: &[PathBuf], color: bool) -> Result<(Sources, Program), String> {
    let mut errors = String::new();
    let mut sources = Sources::default();
    for path in files {
        if let Err(error) = read(path, &mut sources) {
            errors.push_str(&error);
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    match front_end(&sources) {
        Ok(program) => Ok((sources, program)),
        Err(diagnostics) => Err(rendered(&sources, &diagnostics, color)),
    }
}

/// Formats files in place, or says which are not formatted.
pub fn format_files(files: &[PathBuf], only_check: bool, color: bool) -> Outcome {
    let mut output = String::new();
    let mut errors = String::new();
    let mut unformatted = 0;
    for path in files {
        match formatted(path, color) {
            Err(error) => errors.push_str(&error),
            Ok(None) => {}
            Ok(Some(_)) if only_check => {
                unformatted += 1;
                output.push_str(&format!("{}\n", path.display()));
            }
            Ok(Some(text)) => {
                if let Err(error) = crate::files::replace(path, &text) {
                    let name = path.display();
                    errors.push_str(&format!("orcac: {name} cannot be written: {error}\n"));
                }
            }
        }
    }
    if unformatted > 0 {
        errors.push_str("orcac: the files above are not formatted; run `orcac fmt` on them\n");
    }
    Outcome { output, good: errors.is_empty(), errors }
}

/// The text of a file as it should be; `None` if it is.
fn formatted(path: &Path, color: bool) -> Result<Option<String>, String> {
    let mut sources = Sources::default();
    let file = read(path, &mut sources)?;
    let parsed = crate::parser::FileParser::default().parse(&sources, file);
    if !parsed.diagnostics.is_empty() {
        return Err(rendered(&sources, &parsed.diagnostics, color));
    }
    let text = format(&sources, &parsed.file, &parsed.comments);
    Ok((text != sources.file(file).text).then_some(text))
}

fn read(path: &Path, sources: &mut Sources) -> Result<FileId, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "; is the name right?",
            std::io::ErrorKind::InvalidData => "; Orca programs are UTF-8 text",
            _ => "",
        };
        format!("orcac: {name} cannot be read: {error}{hint}\n")
    })?;
    sources.add(&name, text).map_err(|_| {
        format!("orcac: {name} is too long: at most {LARGEST_FILE} bytes; split the program\n")
    })
}

fn rendered(sources: &Sources, diagnostics: &[Diagnostic], color: bool) -> String {
    let shown = diagnostics.iter().take(MOST_SHOWN);
    let mut text: String = shown.map(|diagnostic| diagnostic.render(sources, color)).collect();
    let errors = match diagnostics.len() {
        1 => "1 error".to_owned(),
        count if count > MOST_SHOWN => format!("{count} errors, of which these are the first"),
        count => format!("{count} errors"),
    };
    text.push_str(&format!("orcac: {errors}\n"));
    text
}

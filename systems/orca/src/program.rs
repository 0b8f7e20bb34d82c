//! `orcac`: checks, formats, compiles and runs Orca programs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use crate::command::{Outcome, check_files, format_files, translate};
use crate::files::are_same;
use crate::server::serve;
use crate::simulated::Simulated;
use crate::started::Ends;
use crate::toolchain::{Ranks, Weft, folder_for_program};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

/// Checks, formats, compiles and runs programs in Orca.
#[derive(Parser)]
#[command(name = "orcac", version, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a program: the files named are one program
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// The files of the program
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Compile a program: by C, to one that `weft run` starts
    #[command(after_help = BUILD_EXAMPLES)]
    Build {
        /// The program that is written; beside the first file without another word
        #[arg(short, long, value_name = "PROGRAM")]
        output: Option<PathBuf>,
        /// Write the C instead, to the standard output or where --output says
        #[arg(long)]
        c: bool,
        /// The files of the program
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Compile a program and run it on processors of this host, or of others
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        /// Number of processors: each is a process of the system, a rank [default: 1, or what the
        /// hosts have]
        #[arg(short, long, value_name = "NUMBER")]
        n: Option<u16>,
        /// The files of the program
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Options for `weft run`
        #[arg(last = true, value_name = "OPTION")]
        options: Vec<String>,
    },
    /// Compile a program and run it on simulated processors, in virtual time
    #[command(after_help = SIM_EXAMPLES)]
    Sim(Simulated),
    /// Serve an editor by the Language Server Protocol, over standard input and output
    #[command(after_help = LSP_EXAMPLES)]
    Lsp,
    /// Format files in place
    #[command(after_help = FORMAT_EXAMPLES)]
    Fmt {
        /// Change nothing; name the files that are not formatted, and fail if there are some
        #[arg(long)]
        check: bool,
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

const EXAMPLES: &str = "\
Examples:
  orcac run -n 4 counter.orca           compile a program, and run it on four processors
  orcac sim -n 64 counter.orca          run it on 64 simulated ones
  orcac build counter.orca              compile it to ./counter, which `weft run` starts
  orcac check main.orca shapes.orca     check a program of two files
  orcac fmt counter.orca                format a file in place

Exit status: 0 if all is well, 1 if there are errors, 2 if the command line is wrong.";

const CHECK_EXAMPLES: &str = "\
Examples:
  orcac check counter.orca              check a program of one file
  orcac check main.orca shapes.orca     check a program of two files";

const LSP_EXAMPLES: &str = "\
Examples:
  orcac lsp                             started by an editor; in Neovim: cmd = { 'orcac', 'lsp' }";

const FORMAT_EXAMPLES: &str = "\
Examples:
  orcac fmt counter.orca                format a file in place
  orcac fmt --check *.orca              name the files that are not formatted";

const BUILD_EXAMPLES: &str = "\
Examples:
  orcac build counter.orca              to ./counter; then: weft run -n 4 -- ./counter
  orcac build -o tsp main.orca tour.orca
  orcac build --c counter.orca          the C that it becomes

The C compiler is `cc`, or the one that CC names.";

const RUN_EXAMPLES: &str = "\
Examples:
  orcac run counter.orca                on one processor
  orcac run -n 4 counter.orca           on four
  orcac run -n 4 counter.orca -- --statistics
                                        and say what became of its objects
  orcac run -n 4 asp.orca -- --hosts one:2,two:2
                                        on two hosts, which have this directory

The exit status is that of the program.";

const SIM_EXAMPLES: &str = "\
Examples:
  orcac sim tsp.orca                    on 64 processors
  orcac sim -n 16 --preset irx-imc --loss 0.01 --seed 7 tsp.orca
                                        on 16, whose network loses packets
  orcac sim -n 8 --machine fast-ethernet tsp.orca

The same command prints the same trace number on any machine. Processes of a processor take turns,
each until it waits; computing takes no virtual time. The exit status is 1 if the program fails.";

/// The program `orcac`.
pub fn main() -> ExitCode {
    match Arguments::try_parse().unwrap_or_else(|error| refuse(&error)).command {
        Command::Build { output, c, files } => finished(build(output, c, &files)),
        Command::Run { n, files, options } => {
            let start = |weft: &Weft, program: &Path| weft.command(program, n, &options);
            ended(run(&files, Ranks::Processes, &options, start))
        }
        Command::Sim(simulated) => {
            let start = |_: &Weft, program: &Path| simulated.command(program);
            ended(run(&simulated.files, Ranks::Simulated, &[], start))
        }
        Command::Lsp => finished(serve().map_err(|error| format!("orcac: {error}\n"))),
        Command::Check { files } => texts(&check_files(&files, colored())),
        Command::Fmt { check, files } => texts(&format_files(&files, check, colored())),
    }
}

/// Says what is wrong with the command line. A file in the place of a command was to be run.
fn refuse(error: &clap::Error) -> ! {
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
        && word.ends_with(".orca")
    {
        eprintln!("orcac: '{word}' is no command: did you mean 'orcac run {word}'?");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// The exit status of a command, whose errors are printed.
fn finished(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(errors) => {
            eprint!("{errors}");
            ExitCode::FAILURE
        }
    }
}

fn build(output: Option<PathBuf>, c: bool, files: &[PathBuf]) -> Result<(), String> {
    let text = translate(files, colored())?;
    let is_source = |path: &Path| files.iter().any(|file| file == path || are_same(file, path));
    let refused = "would have the name of its source: name it by --output\n";
    if c {
        return match output {
            None => std::io::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| format!("orcac: the C cannot be written: {error}\n")),
            Some(path) if is_source(&path) => Err(format!("orcac: the C {refused}")),
            Some(path) => std::fs::write(&path, text)
                .map_err(|error| format!("orcac: {} cannot be written: {error}\n", path.display())),
        };
    }
    let program = output.or_else(|| files.first().map(|file| file.with_extension("")));
    let program = program.filter(|program| !is_source(program));
    let program = program.ok_or_else(|| format!("orcac: the program {refused}"))?;
    Weft::find()?.compile(&text, &program, Ranks::Processes)
}

/// The exit status of a program that was run, or of a command whose errors are printed.
fn ended(result: Result<ExitStatus, String>) -> ExitCode {
    match result {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into(),
        Err(errors) => finished(Err(errors)),
    }
}

/// Compiles a program and runs it by the command that `start` makes, with these options for `weft
/// run`.
fn run(
    files: &[PathBuf],
    ranks: Ranks,
    options: &[String],
    start: impl FnOnce(&Weft, &Path) -> std::process::Command,
) -> Result<ExitStatus, String> {
    let text = translate(files, colored())?;
    let weft = Weft::find()?;
    let ends =
        Ends::catch().map_err(|error| format!("orcac: no signal can be caught: {error}\n"))?;
    let folder = folder_for_program(options)?;
    let name = files.first().and_then(|file| file.file_stem()).unwrap_or("program".as_ref());
    let program = folder.path().join(name);
    weft.compile(&text, &program, ranks)?;
    let mut command = start(&weft, &program);
    let started = ends.run(&mut command);
    started.map_err(|error| {
        format!("orcac: {} cannot be started: {error}\n", command.get_program().display())
    })
}

/// Prints what became of a command that reads and writes texts.
fn texts(outcome: &Outcome) -> ExitCode {
    print!("{}", outcome.output);
    eprint!("{}", outcome.errors);
    ExitCode::from(u8::from(!outcome.good))
}

/// True if errors go to a terminal whose user did not ask for plain text.
fn colored() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

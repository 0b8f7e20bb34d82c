//! `weft report`: a page, a table or files about a run, made of its trace.

use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weft_report::{Analysis, chrome, page, perfetto, text};
use weft_trace::{BadTrace, Trace};

const EXAMPLES: &str = "\
Examples:
  weft run --trace=run.weft -n 4 -- asp     write a trace, of which the report is made
  weft report run.weft                      write run.html: open it in a browser
  weft report run.weft --text               say the same here
  weft report run.weft --json | jq .verdict
  weft report run.weft --perfetto run.pftrace
                                            for the Perfetto UI, https://ui.perfetto.dev
  weft report run.weft --chrome run.json    for other viewers, in Chrome's format";

/// Make a page of a run's trace: who waits for whom, what is on the critical path, who sends what
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// File that `weft run --trace` has written
    trace: PathBuf,
    /// Page to write [default: the name of the trace, with .html]
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Print the findings as text
    #[arg(long, conflicts_with = "json")]
    text: bool,
    /// Print all findings as one JSON object, times in nanoseconds
    #[arg(long)]
    json: bool,
    /// Write a trace for the Perfetto UI and its trace processor
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Write a trace in Chrome's JSON, which the Perfetto UI and others read, too
    #[arg(long, value_name = "FILE")]
    chrome: Option<PathBuf>,
}

/// Writes what was asked for.
pub(crate) fn report(arguments: &Arguments) -> Result<ExitCode> {
    let path = &arguments.trace;
    let trace = open(path)?;
    let analysis = Analysis::new(&trace);
    if arguments.text {
        weft_app_common::say!("{}", text::text(&analysis.findings).trim_end());
    }
    if arguments.json {
        weft_app_common::say!("{}", serde_json::to_string(&analysis.findings)?);
    }
    let prints = arguments.text || arguments.json;
    if let Some(perfetto) = &arguments.perfetto {
        write(perfetto, path, |to| perfetto::write(&analysis, to))?;
        say_where(perfetto, prints);
    }
    if let Some(chrome) = &arguments.chrome {
        write(chrome, path, |to| chrome::write(&analysis, to))?;
        say_where(chrome, prints);
    }
    let files = [&arguments.perfetto, &arguments.chrome];
    let is_enough = prints || files.iter().any(|file| file.is_some());
    let to = match &arguments.output {
        Some(output) => output.clone(),
        None if is_enough => return Ok(ExitCode::SUCCESS),
        None => path.with_extension("html"),
    };
    write(&to, path, |to| page::write(&analysis, to))?;
    if !is_enough {
        for sentence in &analysis.findings.verdict {
            weft_app_common::say!("{sentence}");
        }
        weft_app_common::say!("{}: open it in a browser", to.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what to do with a file for others, unless the findings themselves are printed.
fn say_where(file: &Path, prints: bool) {
    if !prints {
        weft_app_common::say!("{}: open it at https://ui.perfetto.dev", file.display());
    }
}

fn open(path: &Path) -> Result<Trace> {
    match Trace::open(path) {
        Err(BadTrace::Io(error)) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no {}: `weft run --trace={} -n 4 -- PROGRAM` writes one",
            path.display(),
            path.display()
        ),
        read => read.with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Writes a file, never over the trace. Of one that cannot be written nothing is left.
fn write(
    path: &Path,
    trace: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let identity = |path: &Path| path.metadata().map(|about| (about.dev(), about.ino())).ok();
    if identity(path).is_some_and(|file| identity(trace) == Some(file)) {
        bail!("{} is the trace: say another name with -o, --perfetto or --chrome", path.display());
    }
    let what = || format!("cannot write {}", path.display());
    let mut to = BufWriter::new(File::create(path).with_context(what)?);
    content(&mut to).and_then(|()| to.flush()).with_context(what).inspect_err(|_| {
        if path.is_file() {
            // Half a page is none.
            let _ = std::fs::remove_file(path);
        }
    })
}

//! `weft-net`: the one program of Weft that has capabilities. A process that uses AF_XDP starts it
//! and asks, over the socket that is its standard input, for an interface and sockets on it; it
//! hands them over and ends. It is told nothing by arguments, environment or files.

#![forbid(unsafe_code)]

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use rustix::thread::set_no_new_privs;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use weft_net::{
    Stranger, check_caller, clear_environment, close_inherited, keep_needed, keep_none, serve,
};

fn main() -> ExitCode {
    let socket = io::stdin();
    let ready = confine();
    let known = if std::env::args_os().len() > 1 {
        Err(Stranger::NoSocket)
    } else {
        check_caller(socket.as_fd())
    };
    if let Err(stranger) = known {
        let _ = keep_none();
        eprintln!("weft-net: {}", explain(stranger));
        return ExitCode::from(2);
    }
    match ready.and_then(|()| fall_silent()).and_then(|()| serve(socket.as_fd())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Gives up whatever is not needed, and what was inherited.
fn confine() -> io::Result<()> {
    keep_needed()?;
    set_no_new_privs(true)?;
    // Nobody looks into this process or takes its descriptors.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    close_inherited()?;
    clear_environment();
    Ok(())
}

/// Keeps nothing of the caller's open but the socket.
fn fall_silent() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    std::env::set_current_dir("/")
}

fn explain(stranger: Stranger) -> &'static str {
    match stranger {
        Stranger::NoSocket => {
            "this program is for weft, which starts it where it needs AF_XDP; it takes no arguments"
        }
        Stranger::OtherUser => "whoever asks is another user",
        Stranger::OtherProcess => "whoever asks did not start this process",
    }
}

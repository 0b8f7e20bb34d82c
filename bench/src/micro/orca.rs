//! Sequential loops that `orcac` compiled, beside the same in Rust: those of `apps/asp` and
//! `apps/programs/src/leq`, with the same numbers, whose results are compared.
//!
//! A program of Orca's has no clock. So whole processes are timed, less one that does nothing, in
//! turns with Rust.

use crate::micro::launch::Spec;
use crate::micro::report::{Limit, Row};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Turns: each is of tenths of a second.
const TURNS: usize = 15;
/// Nodes and unknowns, as the programs have them.
const N: usize = 700;
/// Steps of the solver, as its program has them.
const STEPS: usize = 500;

/// A program, and the same in Rust, which returns what the program writes.
struct Kernel {
    name: &'static str,
    text: &'static str,
    rust: fn() -> i64,
}

const KERNELS: [Kernel; 2] = [
    Kernel { name: "asp", text: include_str!("../../orca/asp.orca"), rust: shortest_paths },
    Kernel { name: "leq", text: include_str!("../../orca/leq.orca"), rust: equations },
];

const EMPTY: Kernel =
    Kernel { name: "empty", text: include_str!("../../orca/empty.orca"), rust: || 0 };

/// Runs the benchmark, without ranks.
pub fn measure_all(spec: &Spec) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for programs")?;
    let empty = compiled(&EMPTY, folder.path())?;
    for kernel in KERNELS {
        let program = compiled(&kernel, folder.path())?;
        let (mut orca, mut rust) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let (start, _) = timed(&empty)?;
            let (whole, written) = timed(&program)?;
            orca.push(whole - start);
            let begun = Instant::now();
            let result = (kernel.rust)();
            rust.push(begun.elapsed().as_nanos() as f64);
            ensure!(
                written == result,
                "{} comes to {written} in Orca, and to {result} in Rust",
                kernel.name
            );
        }
        let floor = vec![("the same loops in Rust", rust)];
        let name = format!("orca, {}", kernel.name);
        let mut row = Row::new(name, (1, 8 * N * N), "ns", orca, floor);
        (row.link, row.limit) = ("none", Some(Limit::AtMost(1.5)));
        row.print(spec);
    }
    Ok(())
}

/// The compiled program.
fn compiled(kernel: &Kernel, folder: &Path) -> Result<PathBuf> {
    let orcac = std::env::current_exe()?.with_file_name("orcac");
    let (source, program) =
        (folder.join(kernel.name).with_extension("orca"), folder.join(kernel.name));
    std::fs::write(&source, kernel.text)?;
    let status = Command::new(&orcac).arg("build").arg(&source).arg("-o").arg(&program).status();
    let status = status.with_context(|| {
        format!("cannot start {}: it is to be beside weft-bench", orcac.display())
    })?;
    if !status.success() {
        bail!("orcac cannot compile {}", kernel.name);
    }
    Ok(program)
}

/// Nanoseconds of a process, and the number that it wrote.
fn timed(program: &Path) -> Result<(f64, i64)> {
    let begun = Instant::now();
    let output = Command::new(program).output()?;
    let time = begun.elapsed().as_nanos() as f64;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok((time, String::from_utf8(output.stdout)?.trim().parse()?))
}

/// Sum of all distances, as `orca/asp.orca` computes it.
fn shortest_paths() -> i64 {
    let row = |i: usize| {
        let distance = |j: usize| if i == j { 0 } else { ((i * 37 + j * 101) % 97 + 1) as i64 };
        (0..N).map(distance).collect::<Vec<i64>>()
    };
    let mut rows: Vec<Vec<i64>> = (0..N).map(row).collect();
    for pivot in 0..N {
        let by = rows[pivot].clone();
        for row in &mut rows {
            weft_asp::relax(row, &by, pivot);
        }
    }
    rows.iter().flatten().sum()
}

/// Sum of the changes of all steps, as `orca/leq.orca` computes it.
fn equations() -> i64 {
    let coefficient = |i: usize, j: usize| {
        if i == j { (2 * N) as f64 } else { ((i + 2 * j) % 3) as f64 / 2.0 }
    };
    let rows: Vec<f64> = (0..N).flat_map(|i| (0..N).map(move |j| coefficient(i, j))).collect();
    let right: Vec<f64> = (0..N).map(|i| (i % 10 + 1) as f64).collect();
    let (mut x, mut next, mut changes) = (vec![0.0; N], vec![0.0; N], 0.0);
    for _ in 0..STEPS {
        changes += weft_apps::leq::sweep(&rows, &right, 0, &x, &mut next);
        x.copy_from_slice(&next);
    }
    (changes * 1e12_f64).round() as i64
}

//! Applications that others publish, on Debian's Open MPI, by Weft and by its own transport:
//! `make test-mpi` installs them below `target/mpi`. `docs/internals/suites.md` says what was seen.

use super::suites::installed;
use super::*;

const RANKS: &str = "4";
/// Python of Debian, for which its modules are made.
const PYTHON: &str = "/usr/bin/python3";

/// Folder with the libraries of Debian's packages for this machine.
fn libraries() -> PathBuf {
    installed("applications/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH))
}

/// Has ranks find what was installed.
fn with_libraries(mut mpirun: Command) -> Command {
    let (libraries, modules) = (libraries(), "lib/python3/dist-packages");
    let paths = ["", "blas", "lapack"].map(|name| libraries.join(name).display().to_string());
    let all = installed("applications/usr");
    let machine = format!("{}-linux-gnu-real", std::env::consts::ARCH);
    // PETSc's module is with the rest of its version, for this kind of numbers.
    let version = all.join("lib/petscdir").read_dir().unwrap().next().unwrap().unwrap();
    let petsc = version.path().join(machine).join(modules);
    let found = format!("{}:{}", petsc.display(), all.join(modules).display());
    mpirun.arg("-x").arg(format!("LD_LIBRARY_PATH={}", paths.join(":")));
    mpirun.arg("-x").arg(format!("PYTHONPATH={found}"));
    mpirun.args(["-x", "PYTHONDONTWRITEBYTECODE=1", "-x", "OMP_NUM_THREADS=1"]);
    mpirun
}

/// An `mpirun` by which ranks use Weft, as `weft mpirun` has them do.
fn by_weft(folder: &TempDir) -> Command {
    let mpirun = on_weft(Command::new(open_mpi("mpirun")), RANKS, folder);
    let mut mpirun = with_libraries(mpirun);
    let (provider, host) = (folder.path().join("libweft-fi.so"), built().join("libweft_host.so"));
    mpirun.arg("-x");
    mpirun.arg(format!("LD_PRELOAD={}:{}", provider.display(), host.display()));
    mpirun
}

/// One by which they use shared memory as this Open MPI does.
fn by_its_own(folder: &TempDir) -> Command {
    let mut mpirun = Command::new(open_mpi("mpirun"));
    mpirun.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", RANKS]);
    mpirun.args(["--mca", "pml", "ob1", "--mca", "btl", "vader,self"]);
    mpirun.arg("--mca").arg("orte_tmpdir_base").arg(folder.path());
    with_libraries(mpirun)
}

/// Adds a program of ours in Python; an error of one rank ends all.
fn python(mut mpirun: Command, program: &str) -> Command {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(program);
    mpirun.args([PYTHON, "-m", "mpi4py"]).arg(program);
    mpirun
}

/// Lines of LAMMPS about energies, temperatures and pressures, without the time that they took.
fn thermodynamics(text: &str) -> Vec<&str> {
    let begins = text.lines().skip_while(|line| !line.starts_with("Per MPI rank memory"));
    let lines = begins.skip(1).take_while(|line| !line.starts_with("Loop time"));
    lines.map(|line| line.split("CPU =").next().unwrap_or_default()).collect()
}

/// Two of its own examples: atoms that melt, and a peptide in water, whose long forces it finds by
/// Fourier transforms that ranks share. All that is printed has to be the same.
#[test]
fn lammps() {
    let (folder, all) = (folder(), installed("applications/usr"));
    for example in ["melt", "peptide"] {
        let texts = [by_weft(&folder), by_its_own(&folder)].map(|mut mpirun| {
            mpirun.arg(all.join("bin/lmp")).args(["-log", "none", "-in"]);
            mpirun.arg(format!("in.{example}"));
            run(mpirun.current_dir(all.join("share/lammps/examples").join(example)))
        });
        let [on_weft, own] = texts.each_ref().map(|text| thermodynamics(text));
        assert!(own.len() > 6, "{}", texts[1]);
        assert_eq!(on_weft, own, "{example}: {}", texts[0]);
        println!("LAMMPS: {example}: the same {} lines as over its own transport", own.len());
    }
}

/// Needs types that begin behind their address, which this Open MPI sends wrong without the
/// provider before it, and communicators with more neighbours than ranks.
#[test]
fn transforms_of_mpi4py_fft() {
    let text = run(&mut python(by_weft(&folder()), "transforms.py"));
    assert_eq!(text, "36 transforms on 4 ranks are right\n");
    print!("mpi4py-fft: {text}");
}

#[test]
fn datasets_of_h5py() {
    let folder = folder();
    for files in ["ompio", "romio321"] {
        let mut mpirun = by_weft(&folder);
        mpirun.args(["--mca", "io", files]);
        let text = run(python(mpirun, "datasets.py").arg(folder.path().join(files)));
        assert_eq!(text, "12 datasets of 4 ranks are right\n");
        print!("h5py: {files}: {text}");
    }
}

#[test]
fn solvers_of_petsc() {
    let folder = folder();
    let mpiruns = [by_weft(&folder), by_its_own(&folder)];
    let [on_weft, own] = mpiruns.map(|mpirun| run(&mut python(mpirun, "laplace.py")));
    assert_eq!(own.lines().count(), 6, "{own}");
    assert_eq!(on_weft, own);
    print!("PETSc, as over Open MPI's own transport:\n{on_weft}");
}

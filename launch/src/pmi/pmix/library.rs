//! The functions of `libpmix.so.2` that are needed, as safe functions.
//!
//! A module with `unsafe` code: the library is found when the program runs and written in C. What
//! is declared here by hand (sizes, offsets, constants) is what the PMIx standard has had since
//! version 3, and is asserted below as the C compiler lays it out; other major versions are
//! refused.

use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::{ManuallyDrop, offset_of};
use std::ptr;

/// Major versions whose layouts these are.
const VERSIONS: std::ops::RangeInclusive<u32> = 3..=5;
/// Bytes of the longest value that is read.
const VALUE_BYTES_MAX: usize = 64 * 1024;

const SUCCESS: c_int = 0;
const NOT_FOUND: c_int = -46;
const RANK_WILDCARD: u32 = u32::MAX - 1;
const SCOPE_GLOBAL: u8 = 3;
const TYPE_BOOL: u16 = 1;
const TYPE_UINT32: u16 = 14;
const TYPE_BYTE_OBJECT: u16 = 27;
const JOB_SIZE: &CStr = c"pmix.job.size";
const COLLECT_DATA: &[u8] = b"pmix.collect";
const NAMESPACE_BYTES: usize = 256;
const KEY_BYTES: usize = 512;

/// `pmix_proc_t`: a process of a job.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Process {
    namespace: [u8; NAMESPACE_BYTES],
    rank: u32,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {}", self.rank)
    }
}

impl Process {
    /// Its rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Another rank of the job.
    pub fn of(&self, rank: u32) -> Process {
        Process { rank, ..*self }
    }
}

/// `pmix_byte_object_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    bytes: *mut c_char,
    size: usize,
}

/// The union in `pmix_value_t`, as far as it is used, and as large as it is.
#[repr(C)]
#[derive(Clone, Copy)]
union Data {
    flag: bool,
    uint32: u32,
    bytes: Bytes,
    all: [u64; 3],
}

/// `pmix_value_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Value {
    kind: u16,
    data: Data,
}

/// `pmix_info_t`.
#[repr(C)]
struct Info {
    key: [u8; KEY_BYTES],
    flags: u32,
    value: Value,
}

const _: () = {
    assert!(size_of::<Process>() == 260 && offset_of!(Process, rank) == 256);
    assert!(size_of::<Value>() == 32 && offset_of!(Value, data) == 8);
    assert!(size_of::<Info>() == 552 && offset_of!(Info, flags) == 512);
    assert!(offset_of!(Info, value) == 520 && size_of::<Bytes>() == 16);
};

/// The library, loaded until the process ends.
#[derive(Debug)]
pub struct Library {
    version: String,
    init: unsafe extern "C" fn(*mut Process, *mut Info, usize) -> c_int,
    put: unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int,
    commit: unsafe extern "C" fn() -> c_int,
    fence: unsafe extern "C" fn(*const Process, usize, *const Info, usize) -> c_int,
    get: unsafe extern "C" fn(
        *const Process,
        *const c_char,
        *const Info,
        usize,
        *mut *mut Value,
    ) -> c_int,
    abort: unsafe extern "C" fn(c_int, *const c_char, *mut Process, usize) -> c_int,
    finalize: unsafe extern "C" fn(*const Info, usize) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl Library {
    /// Loads it, and looks at its version before anything else of it is used.
    pub fn load() -> Result<Self, String> {
        // SAFETY: what runs when libpmix.so.2 is loaded are its initializers, which ask nothing of
        // who loads it.
        let library = unsafe { libloading::Library::new("libpmix.so.2") };
        // It has threads, which must not find it gone: it is never unloaded.
        let library = ManuallyDrop::new(library.map_err(|error| error.to_string())?);
        // SAFETY: in every version this function takes nothing and returns a string that stays.
        let version = unsafe {
            let get_version: unsafe extern "C" fn() -> *const c_char =
                symbol(&library, "PMIx_Get_version")?;
            CStr::from_ptr(get_version())
        };
        let version = version.to_string_lossy();
        let number = version_number(&version).ok_or(format!("its version is {version:?}"))?;
        let major: u32 = number.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
        if !VERSIONS.contains(&major) {
            return Err(format!(
                "libpmix.so.2 is version {number}, and versions {} to {} are understood",
                VERSIONS.start(),
                VERSIONS.end()
            ));
        }
        // SAFETY: these are the types of these functions in the PMIx standard, in the versions that
        // have just been checked.
        unsafe {
            Ok(Library {
                version: number.to_owned(),
                init: symbol(&library, "PMIx_Init")?,
                put: symbol(&library, "PMIx_Put")?,
                commit: symbol(&library, "PMIx_Commit")?,
                fence: symbol(&library, "PMIx_Fence")?,
                get: symbol(&library, "PMIx_Get")?,
                abort: symbol(&library, "PMIx_Abort")?,
                finalize: symbol(&library, "PMIx_Finalize")?,
                error_string: symbol(&library, "PMIx_Error_string")?,
            })
        }
    }

    /// The version, such as `4.2.2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Connects to the server, which says who this is.
    pub fn init(&self) -> Result<Process, String> {
        let mut process = Process { namespace: [0; NAMESPACE_BYTES], rank: 0 };
        // SAFETY: `process` is where the library may write a `pmix_proc_t`; no directives are
        // given.
        self.check(unsafe { (self.init)(&raw mut process, ptr::null_mut(), 0) })?;
        Ok(process)
    }

    /// Number of ranks of the job.
    pub fn job_size(&self, own: &Process) -> Result<u32, String> {
        let value = self.get_value(&own.of(RANK_WILDCARD), JOB_SIZE)?;
        match value {
            // SAFETY: the kind says that this is what the union holds.
            Some(value) if value.kind == TYPE_UINT32 => Ok(unsafe { value.data.uint32 }),
            _ => Err("it does not know the number of ranks".into()),
        }
    }

    /// Publishes bytes for all ranks, from the next fence on.
    pub fn put(&self, key: &str, bytes: &[u8]) -> Result<(), String> {
        let key = c_string(key);
        let bytes = Bytes { bytes: bytes.as_ptr().cast_mut().cast(), size: bytes.len() };
        let mut value = Value { kind: TYPE_BYTE_OBJECT, data: Data { bytes } };
        // SAFETY: the key ends with a zero; the value and its bytes live until the call returns,
        // which copies them and does not write through the pointers.
        self.check(unsafe { (self.put)(SCOPE_GLOBAL, key.as_ptr(), &raw mut value) })?;
        // SAFETY: it takes nothing.
        self.check(unsafe { (self.commit)() })
    }

    /// Waits for all ranks, and collects what they have put.
    pub fn fence(&self, own: &Process) -> Result<(), String> {
        let all = own.of(RANK_WILDCARD);
        let value = Value { kind: TYPE_BOOL, data: Data { all: [1, 0, 0] } };
        let mut collect = Info { key: [0; KEY_BYTES], flags: 0, value };
        collect.key[..COLLECT_DATA.len()].copy_from_slice(COLLECT_DATA);
        // SAFETY: one process and one directive, both of which live until the call returns; the key
        // ends with a zero, because it is shorter than its array.
        self.check(unsafe { (self.fence)(&raw const all, 1, &raw const collect, 1) })
    }

    /// Value that a rank has put; `None` if it has put nothing under this key.
    pub fn get(&self, of: &Process, key: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(value) = self.get_value(of, &c_string(key))? else { return Ok(None) };
        if value.kind != TYPE_BYTE_OBJECT {
            return Ok(None);
        }
        // SAFETY: the kind says that this is what the union holds.
        let Bytes { bytes, size } = unsafe { value.data.bytes };
        if size > VALUE_BYTES_MAX || bytes.is_null() {
            return Ok((size == 0).then(Vec::new));
        }
        // SAFETY: the library returned this many bytes, and never frees them: they are this
        // process's.
        Ok(Some(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) }.to_vec()))
    }

    /// Asks the server to end the job.
    pub fn abort(&self, status: u8, words: &str) {
        let words = c_string(words);
        // SAFETY: the words end with a zero; no processes means all.
        unsafe { (self.abort)(status.into(), words.as_ptr(), ptr::null_mut(), 0) };
    }

    /// Says that this process is done.
    pub fn finalize(&self) -> Result<(), String> {
        // SAFETY: no directives are given.
        self.check(unsafe { (self.finalize)(ptr::null(), 0) })
    }

    /// A value. It is not given back, a few hundred bytes for each rank at start-up: how to do that
    /// differs between the versions.
    fn get_value(&self, of: &Process, key: &CStr) -> Result<Option<Value>, String> {
        let mut value: *mut Value = ptr::null_mut();
        // SAFETY: the process and the key live until the call returns, which writes one pointer to
        // `value`.
        let status = unsafe { (self.get)(of, key.as_ptr(), ptr::null(), 0, &raw mut value) };
        if status == NOT_FOUND {
            return Ok(None);
        }
        self.check(status)?;
        if value.is_null() {
            return Ok(None);
        }
        // SAFETY: on success the library has returned a whole `pmix_value_t`, aligned by its
        // allocator.
        Ok(Some(unsafe { *value }))
    }

    fn check(&self, status: c_int) -> Result<(), String> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: it takes a number, any, and returns a string that stays.
        let words = unsafe { (self.error_string)(status) };
        if words.is_null() {
            return Err(format!("status {status}"));
        }
        // SAFETY: it is not null, so it is that string.
        let words = unsafe { CStr::from_ptr(words) }.to_string_lossy();
        Err(format!("{words} ({status})"))
    }
}

/// A function of the library.
///
/// # Safety
/// `F` is the type of a pointer to the function of this name. The library is never unloaded.
unsafe fn symbol<F: Copy>(library: &libloading::Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller vouches for the type, and that the pointer, which is copied, stays good.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|error| format!("it has no {name}: {error}"))
}

/// The number in `OpenPMIx 4.2.2, repo rev: ...`.
fn version_number(text: &str) -> Option<&str> {
    let start = text.find(|char: char| char.is_ascii_digit())?;
    let rest = &text[start..];
    let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Text for C, up to the first zero in it.
fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests;

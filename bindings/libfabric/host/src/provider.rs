//! The provider, loaded when it is first asked for.
#![allow(unsafe_code)] // It is another library.

use std::env;
use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::OnceLock;
use weft_fabric::abi::{FabricAttr, Info};

/// Variable that names the folders of providers.
const PATH: &str = "FI_PROVIDER_PATH";
const FILE: &str = "libweft-fi.so";

/// `fi_getinfo` of a provider.
pub type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *mut Info,
) -> c_int;
/// `fi_fabric` of a provider.
pub type OpenFabric =
    unsafe extern "C" fn(*const FabricAttr, *mut *mut FabricObject, *mut c_void) -> c_int;

/// `struct fi_provider`.
#[repr(C)]
pub struct Provider {
    version: u32,
    fi_version: u32,
    context: [*mut c_void; 4],
    name: *const c_char,
    /// Answer to whoever asks what it offers.
    pub getinfo: GetInfo,
    /// Its fabric.
    pub fabric: OpenFabric,
    cleanup: extern "C" fn(),
}

/// `struct fid_fabric`, into which the host writes one number.
#[repr(C)]
pub struct FabricObject {
    fid: [*mut c_void; 3],
    ops: *mut c_void,
    /// Version that the client asks for.
    pub api_version: u32,
}

// SAFETY: functions, and names that stay.
unsafe impl Sync for Provider {}
// SAFETY: as above.
unsafe impl Send for Provider {}

impl Provider {
    /// Its name.
    pub fn name(&self) -> &CStr {
        // SAFETY: a provider's name is a text that stays.
        unsafe { CStr::from_ptr(self.name) }
    }

    /// Its own version.
    pub fn version(&self) -> u32 {
        self.version
    }
}

/// The provider; `None` if it is in no folder that `FI_PROVIDER_PATH` lists.
pub fn provider() -> Option<&'static Provider> {
    static PROVIDER: OnceLock<Option<&'static Provider>> = OnceLock::new();
    *PROVIDER.get_or_init(load)
}

fn load() -> Option<&'static Provider> {
    let file =
        folders(env::var_os(PATH)?).map(|folder| folder.join(FILE)).find(|it| it.is_file())?;
    // SAFETY: what runs when the provider is loaded are its initializers, which ask nothing of who
    // loads it.
    let library = unsafe { libloading::Library::new(&file) };
    let library = match library {
        Ok(library) => ManuallyDrop::new(library), // It is never unloaded.
        Err(error) => {
            eprintln!("weft: {}: {error}", file.display());
            return None;
        }
    };
    // SAFETY: this is the type of this function of any provider; what it returns stays.
    unsafe {
        let begin = library.get::<extern "C" fn() -> *const Provider>(b"fi_prov_ini").ok()?;
        begin().as_ref()
    }
}

/// The folders that the variable's value lists; what begins with `@` is preferred by libfabric.
fn folders(value: OsString) -> impl Iterator<Item = PathBuf> {
    let bytes = value.into_vec();
    let bytes = bytes.strip_prefix(b"@").unwrap_or(&bytes).to_vec();
    let folders: Vec<_> = bytes.split(|byte| *byte == b':').map(<[u8]>::to_vec).collect();
    folders.into_iter().map(|folder| PathBuf::from(std::ffi::OsStr::from_bytes(&folder)))
}

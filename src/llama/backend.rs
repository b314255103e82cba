//! llama.cpp's process-wide state: initialised once, its log routed to the `log` crate.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use llama_cpp_2::llama_backend::LlamaBackend;

use crate::ffi;

/// The `log` target of llama.cpp's own messages.
const LOG_TARGET: &str = "llama.cpp";

static BACKEND: OnceLock<LlamaBackend> = OnceLock::new();

thread_local! {
    /// Lines that llama.cpp logged as errors on this thread while [`capture_errors`] runs.
    static ERRORS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
    /// The level of the last line, for llama.cpp's continuation messages.
    static LEVEL: RefCell<log::Level> = const { RefCell::new(log::Level::Debug) };
}

/// Initialises llama.cpp once per process and routes its log to the `log` crate under the target
/// `llama.cpp`. Later calls return the same backend.
pub fn init() -> &'static LlamaBackend {
    BACKEND.get_or_init(|| {
        // SAFETY: the callback is a plain function that lives as long as the process and takes no
        // user data; both setters only store it.
        unsafe {
            ffi::llama_log_set(Some(log_line), std::ptr::null_mut());
            ffi::ggml_log_set(Some(log_line), std::ptr::null_mut());
        }
        // The only failure is that another user of llama-cpp-2 in this process came first, which
        // serves as well: the backend is initialised.
        let backend = LlamaBackend::init().unwrap_or(LlamaBackend {});
        #[cfg(feature = "dynamic-backends")]
        load_backends();
        backend
    })
}

/// Loads the backends where this build left them or, in a program that was handed out, beside it.
#[cfg(feature = "dynamic-backends")]
fn load_backends() {
    llama_cpp_2::llama_backend::load_backends();
    // SAFETY: both calls only look at ggml's registry and at the program's own folder.
    unsafe {
        if ffi::ggml_backend_dev_count() == 0 {
            ffi::ggml_backend_load_all();
        }
    }
}

/// The version of the llama.cpp that is linked in.
pub fn version() -> String {
    // SAFETY: returns a pointer to a static, zero-terminated string.
    let text = unsafe { CStr::from_ptr(ffi::llama_version()) };
    text.to_string_lossy().into_owned()
}

/// Bytes of memory on this machine, host and devices together.
pub(super) fn total_memory() -> u64 {
    init();
    llama_cpp_2::list_llama_ggml_backend_devices()
        .iter()
        .map(|device| device.memory_total as u64)
        .sum()
}

/// From now on has the process give large blocks of memory back to the system when they are freed,
/// and gives back what is free now: an allocator that expects to need them again keeps them.
pub fn give_back_freed_memory() {
    // SAFETY: only tells the allocator; what is in use stays as it is.
    unsafe { ffi::msd_give_back_freed_memory() };
}

/// Runs `body` and returns, beside its result, what llama.cpp logged as errors meanwhile on this
/// thread: its calls report a bare failure and leave the reason in the log.
pub(super) fn capture_errors<T>(body: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = ERRORS.with_borrow_mut(|errors| errors.replace(Vec::new()));
    let result = body();
    let lines = ERRORS.with_borrow_mut(|errors| std::mem::replace(errors, outer));
    (result, lines.unwrap_or_default())
}

/// The reason in captured error lines: the first that says more than which function failed.
pub(super) fn reason(lines: &[String]) -> String {
    let text = lines
        .iter()
        .map(|line| strip_function(line))
        .find(|line| !line.is_empty() && !line.starts_with("failed to load model"))
        .or_else(|| lines.first().map(|line| strip_function(line)));
    text.unwrap_or("llama.cpp gave no reason").to_owned()
}

/// A log line without the `function: ` that llama.cpp puts before it, however often it does.
fn strip_function(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some((head, tail)) = rest.split_once(": ") {
        let is_name = !head.is_empty()
            && head
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        let is_wrapper = matches!(head, "error loading model" | "failed to quantize");
        if !(is_name && head.contains('_') || is_wrapper) {
            break;
        }
        rest = tail.trim();
    }
    rest
}

extern "C" fn log_line(level: ffi::ggml_log_level, text: *const c_char, _: *mut c_void) {
    if text.is_null() {
        return;
    }
    // SAFETY: llama.cpp passes a zero-terminated string that lives for the call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let text = text.trim_end();
    if text.is_empty() || text == "." {
        return;
    }
    let level = match level {
        ffi::GGML_LOG_LEVEL_ERROR => log::Level::Error,
        ffi::GGML_LOG_LEVEL_WARN => log::Level::Warn,
        ffi::GGML_LOG_LEVEL_CONT => LEVEL.with_borrow(|level| *level),
        // Its info lines are a page per model: detail, to a program that links it.
        _ => log::Level::Debug,
    };
    LEVEL.with_borrow_mut(|last| *last = level);
    if level == log::Level::Error {
        ERRORS.with_borrow_mut(|errors| {
            if let Some(lines) = errors {
                lines.push(text.to_owned());
            }
        });
    }
    log::log!(target: LOG_TARGET, level, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_names_before_a_message_are_cut_off() {
        let line =
            "llama_model_load: error loading model: tensor 'a' data is not within the file bounds";
        assert_eq!(
            strip_function(line),
            "tensor 'a' data is not within the file bounds"
        );
        assert_eq!(
            strip_function("unknown model architecture: 'x'"),
            "unknown model architecture: 'x'"
        );
    }

    #[test]
    fn errors_are_captured_on_this_thread_only_while_asked() {
        let say = |text: &CStr| {
            log_line(
                ffi::GGML_LOG_LEVEL_ERROR,
                text.as_ptr(),
                std::ptr::null_mut(),
            );
        };
        say(c"before\n");
        let ((), lines) = capture_errors(|| say(c"load_it: broken\n"));
        say(c"after\n");
        assert_eq!(lines, ["load_it: broken"]);
        assert_eq!(reason(&lines), "broken");
    }
}

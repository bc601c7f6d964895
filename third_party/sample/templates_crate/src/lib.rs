//! Prompt templates: `{{ name }}` becomes a value. The C functions below are what include/sample_templates.h wraps.

use std::ffi::{c_char, CStr};

/// Returns `template` with every `{{ name }}` replaced by `value`.
pub fn render(template: &str, name: &str, value: &str) -> String {
    let mut rest = template;
    let mut rendered = String::with_capacity(template.len());
    while let Some(open) = rest.find("{{") {
        let Some(length) = rest[open + 2..].find("}}") else { break };
        let inner = &rest[open + 2..open + 2 + length];
        rendered.push_str(&rest[..open]);
        if inner.trim() == name {
            rendered.push_str(value);
        } else {
            rendered.push_str(&rest[open..open + length + 4]);
        }
        rest = &rest[open + length + 4..];
    }
    rendered.push_str(rest);
    rendered
}

unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a str> {
    if pointer.is_null() {
        return None;
    }
    CStr::from_ptr(pointer).to_str().ok()
}

/// Calls `sink(context, data, size)` once with the rendered bytes. Returns false where an argument is null or not UTF-8.
///
/// # Safety
/// The three texts end with NUL; `sink` may be called with `context`.
#[no_mangle]
pub unsafe extern "C" fn sample_templates_render(
    template: *const c_char,
    name: *const c_char,
    value: *const c_char,
    context: *mut std::ffi::c_void,
    sink: extern "C" fn(*mut std::ffi::c_void, *const c_char, usize),
) -> bool {
    match (text(template), text(name), text(value)) {
        (Some(template), Some(name), Some(value)) => {
            let rendered = render(template, name, value);
            sink(context, rendered.as_ptr().cast(), rendered.len());
            true
        }
        _ => false,
    }
}

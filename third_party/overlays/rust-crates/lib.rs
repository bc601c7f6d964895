//! What the C++ of a host reaches of Rust, as one library: upstream's two cxx bridges, and the C APIs of tokenizers and llguidance.

#[path = "../runtime/components/rust/minijinja_template.rs"]
mod minijinja_template;
#[path = "../runtime/components/tool_use/rust/parsers.rs"]
mod parsers;
mod tokenizers_c;

// Named, so that its C functions are in the library.
extern crate llguidance as _;

//! Passes the arguments to the library and returns its exit code.

#![deny(clippy::print_stdout, clippy::print_stderr)]

// The allocator of musl makes the program a third slower.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    schedscope::cli::main(std::env::args_os().collect())
}

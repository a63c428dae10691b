//! Passes the arguments to the library and returns its exit code.

#![deny(clippy::print_stdout, clippy::print_stderr)]

// The allocators of glibc and musl make the program a fifth and a third slower.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    schedscope::cli::reserve_little_under_a_limit();
    schedscope::cli::main(std::env::args_os().collect())
}

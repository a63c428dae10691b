//! The terminal, its input, and files that the program writes.

limits! { "terminal":
}

//! Dumps, archives and captures.

limits! { "sources":
}

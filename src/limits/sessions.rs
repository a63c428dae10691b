//! Session files, configurations, operations and other files that a user names.

limits! { "sessions":
}

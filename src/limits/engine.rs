//! Steps of decisions, dry runs, fixes, odds and expressions.

limits! { "engine":
}

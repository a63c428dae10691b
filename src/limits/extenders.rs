//! HTTP extenders and their recorded answers.

limits! { "extenders":
}

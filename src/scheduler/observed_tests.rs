//! Where pods are taken to wait, by what is seen of them.

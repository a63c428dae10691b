//! Dumps, broken input, captures and live clusters: what is read of each, and what is said about the rest.

#[path = "../common/api_server.rs"]
mod api_server;
#[path = "../common/deciding.rs"]
mod deciding;
#[path = "../common/recorded.rs"]
mod recorded;

mod archives;

mod bad_input;
mod capture;
mod dumps;
mod live;
mod yaml_lists;

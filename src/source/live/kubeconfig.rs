//! Finds and reads the kubeconfig as kubectl does.
//!
//! Mirrors `staging/src/k8s.io/client-go/tools/clientcmd/loader.go` (which files, in which order) and the proxies of
//! `staging/src/k8s.io/client-go/transport`: `proxy-url` first, then the environment as Go's `net/http` reads it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt;
use http::HeaderValue;
use http::Uri;
use jiff::Timestamp;
use kube::Config;
use kube::config::{AuthInfo, Cluster, ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError};
use secrecy::ExposeSecret as _;

use super::error::{ConnectError, Target};
use super::exec;
use super::failure::chain;
use crate::limits::live::{CREDENTIAL_FILE, KUBECONFIG};
use crate::output::url_without_password;
use crate::proxies::Proxies;

/// The process's environment, as far as connections depend on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Env {
    pub(super) kubeconfig: Option<OsString>,
    pub(super) home: Option<PathBuf>,
    /// The process runs in a pod.
    pub(super) in_cluster: bool,
    pub(super) proxies: Proxies,
}

impl Env {
    pub(super) fn of_process() -> Self {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
        Self {
            kubeconfig: std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty()),
            home: home.filter(|path| !path.as_os_str().is_empty()),
            in_cluster: std::env::var_os("KUBERNETES_SERVICE_HOST").is_some(),
            proxies: Proxies::of_process(),
        }
    }
}

/// The contexts of a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// The current context, used by default.
    pub current: Option<String>,
    /// All contexts, in the order of the kubeconfig.
    pub names: Vec<String>,
}

/// Returns the contexts of `path`, or of the kubeconfig that kubectl would use; none if there is no kubeconfig.
///
/// # Errors
/// Returns an error if a kubeconfig cannot be read or is invalid.
pub fn contexts(path: Option<&Path>) -> Result<Contexts, ConnectError> {
    contexts_in(path, &Env::of_process())
}

/// Returns the namespaces that a kubeconfig names for the cluster of a context, or of the current one; none if it cannot be
/// read.
pub fn context_namespaces(path: Option<&Path>, context: Option<&str>) -> Vec<String> {
    let Ok(config) = read(path, &Env::of_process()) else { return Vec::new() };
    let name = context.map(str::to_owned).or_else(|| current(&config));
    let contexts = || config.contexts.iter().filter_map(|named| Some((&named.name, named.context.as_ref()?)));
    let Some((_, chosen)) = contexts().find(|(known, _)| Some(*known) == name.as_ref()) else { return Vec::new() };
    contexts().filter(|(_, other)| other.cluster == chosen.cluster).filter_map(|(_, other)| other.namespace.clone()).collect()
}

/// Returns the namespace of a context, or of the current one; `None` without one, or if the kubeconfig cannot be read.
pub fn context_namespace(path: Option<&Path>, context: Option<&str>) -> Option<String> {
    let config = read(path, &Env::of_process()).ok()?;
    let name = context.map(str::to_owned).or_else(|| current(&config))?;
    let chosen = config.contexts.iter().find(|named| named.name == name)?.context.as_ref()?;
    chosen.namespace.clone().filter(|namespace| !namespace.is_empty())
}

/// Returns whether connecting to a context, or to the current one, may run a program that prompts the user for
/// credentials and so needs the terminal.
pub fn may_ask(path: Option<&Path>, context: Option<&str>) -> bool {
    read(path, &Env::of_process()).is_ok_and(|config| asks(&config, context))
}

fn asks(config: &Kubeconfig, context: Option<&str>) -> bool {
    let name = context.map(str::to_owned).or_else(|| current(config));
    let context = config.contexts.iter().find(|c| Some(&c.name) == name.as_ref()).and_then(|c| c.context.as_ref());
    let user = context.and_then(|context| context.user.as_ref());
    let user = config.auth_infos.iter().find(|u| Some(&u.name) == user).and_then(|u| u.auth_info.as_ref());
    let exec = user.and_then(|user| user.exec.as_ref());
    exec.is_some_and(|exec| !matches!(exec.interactive_mode, Some(ExecInteractiveMode::Never)))
}

fn contexts_in(path: Option<&Path>, env: &Env) -> Result<Contexts, ConnectError> {
    match read(path, env) {
        Ok(config) => Ok(Contexts { current: current(&config), names: names(&config) }),
        Err(ConnectError::NoKubeconfig { .. }) => Ok(Contexts::default()),
        Err(error) => Err(error),
    }
}

fn current(config: &Kubeconfig) -> Option<String> {
    config.current_context.clone().filter(|name| !name.is_empty())
}

fn names(config: &Kubeconfig) -> Vec<String> {
    config.contexts.iter().map(|context| context.name.clone()).collect()
}

/// Returns the merged files of a kubeconfig. Files named by `KUBECONFIG` may be missing, one named by the user may not.
fn read(path: Option<&Path>, env: &Env) -> Result<Kubeconfig, ConnectError> {
    let (paths, looked) = match (path, &env.kubeconfig, &env.home) {
        (Some(path), ..) => return read_file(path),
        (None, Some(list), _) => {
            let paths = std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect();
            (paths, format!("KUBECONFIG is {}", list.display()))
        }
        (None, None, Some(home)) => {
            let path = home.join(".kube").join("config");
            let looked = format!("KUBECONFIG is not set, and there is no {}", path.display());
            (vec![path], looked)
        }
        (None, None, None) => (Vec::<PathBuf>::new(), "neither KUBECONFIG nor HOME is set".to_owned()),
    };
    let mut merged: Option<Kubeconfig> = None;
    for path in paths.iter().filter(|path| path.exists()) {
        let next = read_file(path)?;
        merged = Some(match merged {
            None => next,
            Some(before) => before.merge(next).map_err(|error| ConnectError::Kubeconfig { path: path.clone(), cause: chain(&error) })?,
        });
    }
    merged.ok_or(ConnectError::NoKubeconfig { looked })
}

/// Whether a path names an open file of this process.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd", "/dev/stdin"].iter().any(|open| path.starts_with(open))
}

/// Returns whether a file begins with a mark of UTF-16. kube panics if half of such a character is missing at the end.
fn is_utf16(path: &Path) -> bool {
    let mut mark = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut mark)).is_ok() && matches!(mark, [0xff, 0xfe] | [0xfe, 0xff])
}

/// Returns the kubeconfig at a path. Paths in one that is no file, such as a pipe, are relative to the working directory.
fn read_file(path: &Path) -> Result<Kubeconfig, ConnectError> {
    let too_long = || ConnectError::Kubeconfig { path: path.to_owned(), cause: format!("it is longer than {} MiB", KUBECONFIG >> 20) };
    let parsed = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() > KUBECONFIG => return Err(too_long()),
        // A shell passes the output of a command as a pipe of this process; any other pipe may have no writer.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() && !is_descriptor(path) => {
            return Err(ConnectError::Kubeconfig { path: path.to_owned(), cause: "it is not a regular file".to_owned() });
        }
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let mut text = String::new();
            let read = File::open(path).and_then(|file| file.take(KUBECONFIG + 1).read_to_string(&mut text));
            match read {
                Ok(length) if length as u64 > KUBECONFIG => return Err(too_long()),
                Ok(_) => Kubeconfig::from_yaml(&text),
                Err(error) => Err(KubeconfigError::ReadConfig(error, path.to_owned())),
            }
        }
        Ok(metadata) if metadata.len() % 2 == 1 && is_utf16(path) => {
            return Err(ConnectError::Kubeconfig { path: path.to_owned(), cause: "it is UTF-16 and ends within a character".to_owned() });
        }
        _ => Kubeconfig::read_from(path),
    };
    parsed.map_err(|error| {
        let cause = match &error {
            // The message around it names the file already.
            KubeconfigError::ReadConfig(cause, _) => cause.to_string(),
            // Lines of the file hold credentials, so they are left out.
            KubeconfigError::Parse(error) => {
                let at = error.location().map(|at| format!(" at line {}, column {}", at.line(), at.column())).unwrap_or_default();
                format!("failed to parse kubeconfig YAML{at}")
            }
            other => chain(other),
        };
        ConnectError::Kubeconfig { path: path.to_owned(), cause }
    })
}

/// The requested cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) context: Option<String>,
    /// Programs for credentials may prompt the user.
    pub(super) interactive: bool,
    /// The time limit of such a program if it may not prompt.
    pub(super) exec: Duration,
}

/// The configuration that a kubeconfig gives.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) config: Config,
    pub(super) target: Target,
    /// When the credentials expire, if known.
    pub(super) valid_until: Option<Timestamp>,
}

/// Returns the configuration of a client, and its target.
pub(super) fn load(wanted: &Wanted, env: &Env) -> Result<Loaded, ConnectError> {
    let mut kubeconfig = match read(wanted.kubeconfig.as_deref(), env) {
        Err(ConnectError::NoKubeconfig { .. }) if env.in_cluster && wanted.context.is_none() => return in_cluster(),
        other => other?,
    };
    let known = names(&kubeconfig);
    let name = match (&wanted.context, current(&kubeconfig)) {
        (Some(name), _) if !known.contains(name) => return Err(ConnectError::NoContext { name: name.clone(), known }),
        (None, Some(name)) if !known.contains(&name) => return Err(ConnectError::NoContext { name, known }),
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name,
        (None, None) => return Err(ConnectError::NoCurrentContext { known }),
    };
    let bad = |cause: String| ConnectError::BadContext { context: name.clone(), cause };
    let cluster = kubeconfig.contexts.iter().find(|c| c.name == name).and_then(|c| Some(c.context.as_ref()?.cluster.clone()));
    let cluster = cluster.ok_or_else(|| bad("it names no cluster".to_owned()))?;
    let Some(cluster) = kubeconfig.clusters.iter().find(|c| c.name == cluster).and_then(|c| c.cluster.clone()) else {
        return Err(bad(format!("it names cluster {cluster:?}, which the kubeconfig does not have")));
    };
    let user = kubeconfig.contexts.iter().find(|c| c.name == name).and_then(|c| c.context.as_ref()?.user.clone());
    let user = user.filter(|user| !user.is_empty());
    if let Some(user) = user.as_ref().filter(|user| !kubeconfig.auth_infos.iter().any(|known| known.name == **user)) {
        return Err(bad(format!("it names user {user:?}, which the kubeconfig does not have")));
    }
    let mut valid_until = None;
    if let Some(user) = kubeconfig.auth_infos.iter_mut().find(|known| Some(&known.name) == user.as_ref()).and_then(|u| u.auth_info.as_mut())
    {
        let server = url_without_password(cluster.server.as_deref().unwrap_or_default().trim_end_matches('/'));
        let target = Target { context: name.clone(), server, ..Target::default() };
        let no_credentials = |cause: String| ConnectError::Credentials { target: target.clone(), cause };
        // A program that prompts would write over the screen.
        if user.auth_provider.as_ref().is_some_and(|provider| provider.config.contains_key("cmd-path")) {
            // kube would wait for it without a limit.
            let message = "the auth-provider of the user runs a program (cmd-path), as kubectl no longer does; use a credential plugin \
                           (exec) instead, such as gke-gcloud-auth-plugin";
            return Err(no_credentials(message.to_owned()));
        }
        valid_until = exec::resolve(user, &cluster, wanted.interactive, wanted.exec).map_err(|error| no_credentials(error.to_string()))?;
        if let Some(path) = user.token_file.take_if(|_| user.token.is_none()) {
            let token = text_of(&path).map_err(|error| no_credentials(format!("tokenFile {path}: {error}")))?;
            // Editors and shells end files with a line break, which a header cannot contain.
            user.token = Some(token.trim().to_owned().into());
        }
        check_user(user).map_err(|error| no_credentials(error.to_string()))?;
    }
    if let Some(path) = &cluster.certificate_authority {
        check_file(Path::new(path)).map_err(|error| bad(format!("certificate-authority {path}: {error}")))?;
    }
    for named in kubeconfig.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        complete_server(named);
    }
    if let Some(url) = cluster.proxy_url.as_ref().filter(|url| !url.is_empty() && !has_scheme_of_proxies(url)) {
        return Err(bad(not_a_proxy(url)));
    }
    let options = KubeConfigOptions { context: Some(name.clone()), ..KubeConfigOptions::default() };
    // The future never waits; it is async only for its other callers.
    let loaded = Config::from_custom_kubeconfig(kubeconfig, &options).now_or_never();
    let mut config = loaded.ok_or_else(|| bad("loading it takes too long".to_owned()))?.map_err(|error| bad(chain(&error)))?;
    // kube checks the environment against the proxy's address instead of the server's.
    let proxy = cluster.proxy_url.filter(|url| !url.is_empty()).or_else(|| proxy_to(&config.cluster_url, &env.proxies));
    config.proxy_url = match proxy {
        Some(url) if !has_scheme_of_proxies(&url) => return Err(bad(not_a_proxy(&url))),
        Some(url) => Some(url.parse().map_err(|error| bad(format!("the proxy {:?} is invalid: {error}", url_without_password(&url))))?),
        None => None,
    };
    let proxy = config.proxy_url.as_ref().map(|url| url_without_password(url.to_string().trim_end_matches('/')));
    let target = Target { context: name, server: server(&config), namespace: config.default_namespace.clone(), proxy };
    Ok(Loaded { config, target, valid_until })
}

/// Returns the proxy that the environment sets for a server, as a URL that kube understands.
fn proxy_to(server: &Uri, proxies: &Proxies) -> Option<String> {
    let tls = server.scheme_str() == Some("https");
    let port = server.port_u16().unwrap_or(if tls { 443 } else { 80 });
    let proxy = proxies.to(tls, server.host()?.trim_matches(['[', ']']), port)?;
    Some(if proxy.contains("://") { proxy.replacen("socks5h://", "socks5://", 1) } else { format!("http://{proxy}") })
}

/// The schemes of proxies that kube speaks.
const PROXY_SCHEMES: [&str; 3] = ["http://", "https://", "socks5://"];

/// Returns whether kube speaks to a proxy. Its own error about another one shows the password.
fn has_scheme_of_proxies(url: &str) -> bool {
    PROXY_SCHEMES.iter().any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

fn not_a_proxy(url: &str) -> String {
    format!("the proxy {:?} does not begin with one of {}", url_without_password(url), PROXY_SCHEMES.join(", "))
}

/// Adds the scheme to a server without one, as `DefaultServerURL` of client-go: https if the cluster has settings for TLS.
fn complete_server(cluster: &mut Cluster) {
    let tls = cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some()
        || cluster.insecure_skip_tls_verify.unwrap_or(false);
    if let Some(server) = cluster.server.as_mut().filter(|server| !server.is_empty() && !server.contains("://")) {
        *server = format!("{}://{server}", if tls { "https" } else { "http" });
    }
}

/// Why a file that a kubeconfig names is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("is not a regular file")]
    NotRegular,
    #[error("is longer than {} MiB", CREDENTIAL_FILE >> 20)]
    TooLong,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Why the credentials of a user are not used.
#[derive(Debug, thiserror::Error)]
enum CredentialError {
    #[error("the token contains characters that no header can hold, such as control characters")]
    Token,
    #[error("as and as-groups contain characters that no header can hold")]
    Impersonation,
    #[error("{field} {path}: {error}")]
    File { field: &'static str, path: String, error: FileError },
}

/// Checks what of a user goes into the headers of requests, and that files of credentials are files; errors name the field only.
fn check_user(user: &AuthInfo) -> Result<(), CredentialError> {
    let is_header = |text: &str| HeaderValue::from_str(text).is_ok();
    if user.token.as_ref().is_some_and(|token| !is_header(token.expose_secret())) {
        return Err(CredentialError::Token);
    }
    let groups = user.impersonate_groups.iter().flatten();
    if !user.impersonate.iter().chain(groups).all(|name| is_header(name)) {
        return Err(CredentialError::Impersonation);
    }
    for (field, path) in [("client-certificate", &user.client_certificate), ("client-key", &user.client_key)] {
        if let Some(path) = path {
            check_file(Path::new(path)).map_err(|error| CredentialError::File { field, path: path.clone(), error })?;
        }
    }
    Ok(())
}

/// Checks that a path, or the target of a link, is a regular file up to the limit; one that is missing is reported by its reader.
fn check_file(path: &Path) -> Result<(), FileError> {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(FileError::NotRegular),
        Ok(about) if about.len() > CREDENTIAL_FILE => Err(FileError::TooLong),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the text of a regular file.
pub(super) fn text_of(path: &str) -> Result<String, FileError> {
    check_file(Path::new(path))?;
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(CREDENTIAL_FILE).read_to_string(&mut text));
    Ok(read.map(|_| text)?)
}

fn in_cluster() -> Result<Loaded, ConnectError> {
    let config =
        Config::incluster().map_err(|error| ConnectError::BadContext { context: "of this pod".to_owned(), cause: chain(&error) })?;
    let target = Target { context: String::new(), server: server(&config), namespace: config.default_namespace.clone(), proxy: None };
    Ok(Loaded { config, target, valid_until: None })
}

fn server(config: &Config) -> String {
    url_without_password(config.cluster_url.to_string().trim_end_matches('/'))
}

#[cfg(test)]
mod tests;

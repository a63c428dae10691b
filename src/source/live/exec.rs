//! Runs the program that a kubeconfig names for credentials.
//!
//! Mirrors `staging/src/k8s.io/client-go/plugin/pkg/client/auth/exec/exec.go`: the content of `KUBERNETES_EXEC_INFO`,
//! and the fields of the answer. The program's output, arguments and environment may hold secrets, so errors leave them
//! out.

use std::io::{self, Read as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;

use crate::limits::live::{PLUGIN_ANSWER, PLUGIN_OUTPUT};
use crate::output::{ChildGroup, base64};

/// The interval at which the program's end is polled.
const LOOK: Duration = Duration::from_millis(10);

/// Why a program gives no credentials.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExecError {
    #[error("the user of the context has a credential plugin (exec) without a command")]
    NoCommand,
    #[error("the credential plugin {command:?} was not found{}", hint.as_deref().map(|h| format!(": {h}")).unwrap_or_default())]
    NotFound { command: String, hint: Option<String> },
    #[error("the credential plugin {command:?} cannot be started: {error}")]
    Start { command: String, error: io::Error },
    #[error("the credential plugin {command:?} needs a terminal (interactiveMode: Always), and there is none")]
    NoTerminal { command: String },
    #[error("the credential plugin {command:?} failed ({status}); run it by hand, as the kubeconfig has it, to see why")]
    Failed { command: String, status: ExitStatus },
    #[error("the credential plugin {command:?} did not finish within {limit:?}; run it by hand, as the kubeconfig has it, to see why")]
    Hangs { command: String, limit: Duration },
    #[error("the credential plugin {command:?} printed no ExecCredential")]
    NoCredential { command: String },
    #[error("the credential plugin {command:?} answers in another apiVersion than {wanted:?}, which the kubeconfig requires")]
    Version { command: String, wanted: String },
    #[error("the credential plugin {command:?} gave neither a token nor a certificate with its key")]
    Nothing { command: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    kind: String,
    api_version: String,
    status: Option<Status>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    token: String,
    client_certificate_data: String,
    client_key_data: String,
    expiration_timestamp: Option<String>,
}

/// Runs the user's program, if there is one, and replaces it by its credentials. Returns when these expire, if known.
///
/// # Errors
/// Returns an error if the program gives no credentials.
pub(super) fn resolve(user: &mut AuthInfo, cluster: &Cluster, interactive: bool, limit: Duration) -> Result<Option<Timestamp>, ExecError> {
    let Some(exec) = user.exec.take() else { return Ok(None) };
    let status = run(&exec, cluster, interactive, limit)?;
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    user.token = given(status.token).map(Into::into);
    if let (Some(certificate), Some(key)) = (given(status.client_certificate_data), given(status.client_key_data)) {
        // A kubeconfig holds both in base64.
        user.client_certificate_data = Some(base64(certificate.as_bytes()));
        user.client_key_data = Some(base64(key.as_bytes()).into());
        (user.client_certificate, user.client_key) = (None, None);
    }
    Ok(status.expiration_timestamp.and_then(|time| time.parse().ok()))
}

fn run(exec: &ExecConfig, cluster: &Cluster, interactive: bool, limit: Duration) -> Result<Status, ExecError> {
    let command = exec.command.clone().filter(|command| !command.is_empty()).ok_or(ExecError::NoCommand)?;
    let interactive = match exec.interactive_mode {
        Some(ExecInteractiveMode::Never) => false,
        Some(ExecInteractiveMode::Always) if !interactive => return Err(ExecError::NoTerminal { command }),
        Some(ExecInteractiveMode::Always | ExecInteractiveMode::IfAvailable) | None => interactive,
    };
    let wanted = exec.api_version.clone().unwrap_or_default();
    let mut spec = json!({"interactive": interactive});
    if exec.provide_cluster_info {
        // A certificate authority that cannot be read fails the connection later, with an error that names the file.
        spec["cluster"] = ExecAuthCluster::try_from(cluster).map_or_else(|_| json!({}), |cluster| json!(cluster));
    }
    let info = json!({"kind": "ExecCredential", "apiVersion": wanted, "spec": spec});
    let mut program = Command::new(&command);
    program.args(exec.args.iter().flatten());
    let variables = exec.env.iter().flatten().filter_map(|entry| Some((entry.get("name")?, entry.get("value")?)));
    program.envs(variables).env("KUBERNETES_EXEC_INFO", info.to_string()).stdout(Stdio::piped());
    // Prompts go to the terminal, if there is one.
    let stream = || if interactive { Stdio::inherit() } else { Stdio::null() };
    program.stdin(stream()).stderr(stream());
    // A group of its own, which is ended as a whole. A program that prompts stays in the terminal's group, or it could not read.
    #[cfg(unix)]
    if !interactive {
        std::os::unix::process::CommandExt::process_group(&mut program, 0);
    }
    let child = match program.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = exec.install_hint.clone().map(|hint| hint.trim().to_owned()).filter(|hint| !hint.is_empty());
            return Err(ExecError::NotFound { command, hint });
        }
        Err(error) => return Err(ExecError::Start { command, error }),
    };
    // A user who is prompted has no time limit.
    let group = (cfg!(unix) && !interactive).then(|| ChildGroup::new(child.id()));
    let answer = wait(child, (!interactive).then_some(limit), group, &command)?;
    let Ok(ExecCredential { kind, api_version, status }) = serde_json::from_slice(&answer) else {
        return Err(ExecError::NoCredential { command });
    };
    if kind != "ExecCredential" {
        return Err(ExecError::NoCredential { command });
    }
    if !wanted.is_empty() && api_version != wanted {
        return Err(ExecError::Version { command, wanted });
    }
    let status = status.unwrap_or_default();
    if status.token.is_empty() && (status.client_certificate_data.is_empty() || status.client_key_data.is_empty()) {
        return Err(ExecError::Nothing { command });
    }
    Ok(status)
}

/// Returns a program's output once it has succeeded.
fn wait(mut child: Child, limit: Option<Duration>, group: Option<ChildGroup>, command: &str) -> Result<Vec<u8>, ExecError> {
    let command = || command.to_owned();
    let printed = child.stdout.take().map(collect);
    let begin = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(error) => return Err(ExecError::Start { command: command(), error }),
        }
        if let Some(limit) = limit
            && begin.elapsed() > limit
        {
            // It may have ended meanwhile. Until it is waited for, its id is that of its group.
            if let Some(group) = group {
                group.end();
            }
            let _ = child.kill();
            let _ = child.wait();
            return Err(ExecError::Hangs { command: command(), limit });
        }
        thread::sleep(LOOK);
    };
    if !status.success() {
        return Err(ExecError::Failed { command: command(), status });
    }
    Ok(printed.map(|printed| printed.finish(PLUGIN_OUTPUT)).unwrap_or_default())
}

/// The output of a program while it is read by a thread of its own.
struct Printed {
    text: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

/// Reads a program's output up to the limit. Output that breaks off does not parse as an answer.
fn collect(mut out: ChildStdout) -> Printed {
    let text = Arc::new(Mutex::new(Vec::new()));
    let (end, ended) = mpsc::channel();
    let shared = Arc::clone(&text);
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = out.read(&mut piece) {
            let mut text = shared.lock().unwrap_or_else(PoisonError::into_inner);
            text.extend_from_slice(&piece[..count]);
            if text.len() as u64 >= PLUGIN_ANSWER {
                break;
            }
        }
        // The receiver is gone if the program was given up.
        let _ = end.send(());
    });
    Printed { text, ended }
}

impl Printed {
    /// Returns the output, which a child of the program may keep open for longer than the program itself.
    fn finish(self, grace: Duration) -> Vec<u8> {
        let _ = self.ended.recv_timeout(grace);
        std::mem::take(&mut *self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_plugin_whose_output_stays_open_ends() {
        let started = |script: &str| Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let begin = Instant::now();
        let printed = wait(started("printf answer; sleep 30 & exit 0"), None, None, "sh").unwrap();
        assert_eq!(printed, b"answer");
        assert!(begin.elapsed() < Duration::from_secs(20));
        let printed = wait(started("head -c 9000000 /dev/zero"), Some(Duration::from_secs(60)), None, "sh");
        assert!(printed.map_or(true, |text| (text.len() as u64) < PLUGIN_ANSWER + 4096));
    }

    #[cfg(unix)]
    #[test]
    fn a_plugin_that_hangs_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        // The child is written down before the time limit can count.
        let script = format!("sleep 300 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display());
        let exec =
            ExecConfig { command: Some("sh".to_owned()), args: Some(vec!["-c".to_owned(), script]), ..serde_json::from_str("{}").unwrap() };
        let child = || std::fs::read_to_string(&file).ok();
        let error = run(&exec, &Cluster::default(), false, Duration::from_millis(1500)).err().unwrap();
        assert!(matches!(error, ExecError::Hangs { .. }), "{error}");
        let pid = child().expect("it was started").trim().to_owned();
        let runs = || Command::new("sh").args(["-c", &format!("kill -0 {pid} 2>&-")]).status().unwrap().success();
        let deadline = Instant::now() + Duration::from_secs(20);
        while runs() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        assert!(!runs(), "its child is left");
    }
}

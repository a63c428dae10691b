//! Tests of `kubeconfig`.

use super::*;
use crate::output::Secret;

const GOOD: &str = r"
apiVersion: v1
kind: Config
current-context: prod
contexts:
- {name: prod, context: {cluster: east, user: me, namespace: shop}}
- {name: lost, context: {cluster: gone}}
- {name: bare, context: {cluster: bare}}
- {name: tls, context: {cluster: tls}}
- {name: userless, context: {cluster: east, user: someone}}
clusters:
- {name: east, cluster: {server: 'https://10.1.2.3:6443', proxy-url: 'http://proxy:3128', tls-server-name: east.example}}
- {name: bare, cluster: {}}
- {name: tls, cluster: {server: 'https://10.1.2.4', certificate-authority: ca.crt}}
users:
- {name: me, user: {token: abc}}
";

fn check(text: &str, context: Option<&str>) -> Result<(Config, Target), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, text).unwrap();
    let wanted = Wanted { kubeconfig: Some(path), context: context.map(str::to_owned), ..Wanted::default() };
    let result = load(&wanted, &Env::default()).map(|Loaded { config, target, .. }| (config, target));
    result.map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn programs_that_may_ask_for_credentials_are_known() {
    let with = |user: &str| Kubeconfig::from_yaml(&GOOD.replace("{token: abc}", user)).unwrap();
    let plugin = |mode: &str| with(&format!("{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: login{mode}}}}}"));
    assert!(!asks(&with("{token: abc}"), None));
    assert!(asks(&plugin(", interactiveMode: IfAvailable"), None) && asks(&plugin(", interactiveMode: Always"), Some("prod")));
    assert!(asks(&plugin(""), None));
    assert!(!asks(&plugin(", interactiveMode: Never"), None));
    assert!(!asks(&plugin(""), Some("bare")) && !asks(&plugin(""), Some("nowhere")));
}

#[test]
fn what_is_wrong_with_a_kubeconfig_is_reported() {
    for (text, context, expected) in [
        (GOOD, Some("dev"), "there is no context \"dev\" in the kubeconfig; it has prod, lost, bare, tls, userless"),
        (
            GOOD,
            Some("userless"),
            "context userless of the kubeconfig cannot be used: it names user \"someone\", which the kubeconfig does not have",
        ),
        (
            GOOD,
            Some("lost"),
            "context lost of the kubeconfig cannot be used: it names cluster \"gone\", which the kubeconfig does not have",
        ),
        (GOOD, Some("bare"), "context bare of the kubeconfig cannot be used: cluster url is missing on selected cluster"),
        (GOOD, Some("tls"), "context tls of the kubeconfig cannot be used: failed to load certificate authority"),
        ("kind: Config", None, "the kubeconfig has no current context; it has no contexts"),
        ("current-context: x", None, "there is no context \"x\" in the kubeconfig; it has no contexts"),
        ("contexts: [{name: a, context: {cluster: b}}]", None, "the kubeconfig has no current context; it has a"),
        ("contexts: 7", None, "the kubeconfig config cannot be used: failed to parse kubeconfig YAML"),
    ] {
        let error = check(text, context).expect_err(expected);
        assert!(error.starts_with(expected), "{error}\n  instead of\n{expected}");
    }
}

#[test]
fn servers_without_a_scheme_are_completed() {
    for (more, expected) in [("", "http://10.1.2.3:6443"), (", insecure-skip-tls-verify: true", "https://10.1.2.3:6443")] {
        let text = GOOD.replace("'https://10.1.2.3:6443'", &format!("'10.1.2.3:6443'{more}"));
        assert_eq!(check(&text, None).unwrap().1.server, expected);
    }
}

#[test]
fn credentials_that_cannot_be_sent_are_refused_without_being_shown() {
    let with = |user: &str| check(&GOOD.replace("{token: abc}", user), None).unwrap_err();
    for user in ["{token: \"hun\\nter2\"}", "{token: \"hunter2\\u0001\"}", "{token: hunter2, as: \"a\\nb\"}"] {
        let error = with(user);
        assert!(error.contains("no header can hold") && !error.contains("hun"), "{error}");
    }
    for field in ["tokenFile", "client-certificate", "client-key"] {
        let error = with(&format!("{{{field}: /dev/zero}}"));
        assert!(error.contains(&format!("{field} /dev/zero: is not a regular file")), "{error}");
    }
    let ca = GOOD.replace("certificate-authority: ca.crt", "certificate-authority: /dev/zero");
    assert!(check(&ca, Some("tls")).unwrap_err().contains("certificate-authority /dev/zero: is not a regular file"));
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long");
    std::fs::write(&long, "x".repeat(CREDENTIAL_FILE as usize + 1)).unwrap();
    assert!(with(&format!("{{tokenFile: {}}}", long.display())).contains("is longer than 4 MiB"));
    let wanted = Wanted { kubeconfig: Some("/dev/zero".into()), ..Wanted::default() };
    assert!(load(&wanted, &Env::default()).unwrap_err().to_string().contains("it is not a regular file"));
    std::fs::write(&long, "x".repeat(KUBECONFIG as usize + 1)).unwrap();
    let wanted = Wanted { kubeconfig: Some(long), ..Wanted::default() };
    assert!(load(&wanted, &Env::default()).unwrap_err().to_string().contains("it is longer than 4 MiB"));
}

#[test]
fn a_proxy_of_another_scheme_is_refused_without_its_password() {
    for (url, shown) in [
        ("bob:hunter2@127.0.0.1:9", "127.0.0.1:9"),
        ("http:bob:hunter2@127.0.0.1:9", "127.0.0.1:9"),
        ("bob:hunter2%40127.0.0.1:9", "[hidden]"),
        ("ftp://bob:hunter2@127.0.0.1:9", "ftp://127.0.0.1:9"),
        ("socks4://bob:hunter2%40h", "socks4://[hidden]"),
    ] {
        let error = check(&GOOD.replace("http://proxy:3128", url), None).unwrap_err();
        assert!(error.contains(&format!("the proxy {shown:?} does not begin with one of http://, https://, socks5://")), "{error}");
    }
    assert!(check(&GOOD.replace("http://proxy:3128", "SOCKS5://me:hunter2@proxy:1"), None).is_ok());
}

#[test]
fn a_program_of_an_auth_provider_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let provider = format!("{{auth-provider: {{name: gcp, config: {{cmd-path: touch, cmd-args: {}}}}}}}", made.display());
    let error = check(&GOOD.replace("{token: abc}", &provider), None).unwrap_err();
    assert!(error.contains("no credentials: the auth-provider of the user runs a program (cmd-path)"), "{error}");
    assert!(!made.exists());
}

#[test]
fn the_environment_names_proxies_in_schemes_that_kube_knows() {
    let secret = |url: &str| Secret::new(url.to_owned());
    let proxies = Proxies { http: secret("plain:2"), https: secret("socks5h://s:1"), exceptions: "[fd00::1]:6443,10.0.0.1:443".to_owned() };
    for (server, expected) in [
        ("http://10.0.0.1", Some("http://plain:2")),
        ("https://10.0.0.1:6443", Some("socks5://s:1")),
        ("https://10.0.0.1", None),
        ("https://[fd00::1]:6443", None),
        ("https://[::1]:6443", None),
    ] {
        assert_eq!(proxy_to(&server.parse().unwrap(), &proxies).as_deref(), expected, "{server}");
    }
}

#[test]
fn contexts_servers_and_proxies_are_those_of_the_file() {
    let (config, target) = check(GOOD, None).unwrap();
    assert_eq!(target.to_string(), "context prod (https://10.1.2.3:6443)");
    assert_eq!((target.namespace.as_str(), config.tls_server_name.as_deref()), ("shop", Some("east.example")));
    assert_eq!(config.proxy_url.unwrap(), "http://proxy:3128/");
    assert_eq!(target.proxy.as_deref(), Some("http://proxy:3128"));
    let secret = GOOD.replace("http://proxy:3128", "http://me:hidden@proxy:3128");
    assert_eq!(check(&secret, None).unwrap().1.proxy.as_deref(), Some("http://proxy:3128"));
}

#[test]
fn files_are_found_and_merged_as_kubectl_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a"), "contexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'http://first'}}]")
        .unwrap();
    std::fs::write(at("b"), "current-context: a\nclusters: [{name: c, cluster: {server: 'http://second'}}]").unwrap();
    let list = std::env::join_paths([at("missing"), at("a"), at("b")]).unwrap();
    let env = Env { kubeconfig: Some(list), ..Env::default() };
    let Loaded { target, .. } = load(&Wanted::default(), &env).unwrap();
    assert_eq!(target.to_string(), "context a (http://first)");
    assert_eq!(contexts_in(None, &env).unwrap(), Contexts { current: Some("a".into()), names: vec!["a".into()] });

    std::fs::create_dir(at(".kube")).unwrap();
    std::fs::rename(at("a"), at(".kube").join("config")).unwrap();
    let home = Env { home: Some(folder.path().to_owned()), ..Env::default() };
    assert_eq!(contexts_in(None, &home).unwrap().names, ["a"]);
    let wanted = Wanted { kubeconfig: Some(at("missing")), ..Wanted::default() };
    let error = load(&wanted, &home).unwrap_err().to_string();
    assert!(error.starts_with("the kubeconfig ") && error.contains("missing cannot be used: No such file"), "{error}");
    for (env, expected) in [
        (
            Env::default(),
            "there is no kubeconfig (neither KUBECONFIG nor HOME is set), and this process is not running in a pod; a dump or a demo needs none",
        ),
        (
            Env { kubeconfig: Some("/nowhere".into()), ..Env::default() },
            "there is no kubeconfig (KUBECONFIG is /nowhere), and this process is not running in a pod; a dump or a demo needs none",
        ),
    ] {
        assert_eq!(load(&Wanted::default(), &env).unwrap_err().to_string(), expected);
        assert_eq!(contexts_in(None, &env).unwrap(), Contexts::default());
    }
}

#[test]
fn a_kubeconfig_in_utf16_that_is_cut_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let text = "apiVersion: v1\nkind: Config\ncontexts: []\n";
    for (mark, bytes) in [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)] {
        let mut whole: Vec<u8> = mark.to_vec();
        whole.extend(text.encode_utf16().flat_map(bytes));
        std::fs::write(&path, &whole).unwrap();
        assert!(read_file(&path).unwrap().contexts.is_empty());
        for cut in [whole.len() - 1, 3] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let error = read_file(&path).unwrap_err().to_string();
            assert!(error.contains("it is UTF-16 and ends within a character"), "{error}");
        }
    }
}

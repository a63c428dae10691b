//! Tests of `completion`.

use super::*;

const KUBECONFIG: &str = r"
current-context: prod
contexts:
- {name: prod, context: {cluster: east, user: me, namespace: shop}}
- {name: prod-batch, context: {cluster: east, user: me, namespace: batch}}
- {name: 'arn:aws:eks:eu-1:1:cluster/a', context: {cluster: west, namespace: web}}
- {name: '$(reboot)', context: {cluster: west, namespace: '`id`'}}
- {name: 'a b', context: {cluster: west}}
clusters:
- {name: east, cluster: {server: 'https://me:hidden@10.1.2.3:6443'}}
- {name: west, cluster: {server: 'https://10.1.2.4'}}
users:
- {name: me, user: {token: hidden, exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [/ran]}}}
";

/// Returns the completions of a line in which `KUBECONFIG` and `DUMP` are paths of such files.
fn complete(line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (kubeconfig, dump) = (folder.path().join("config"), folder.path().join("dump.json"));
    std::fs::write(&kubeconfig, KUBECONFIG).unwrap();
    let pod = |namespace: &str| format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p","namespace":"{namespace}"}}}}"#);
    std::fs::write(&dump, format!(r#"{{"kind":"List","items":[{},{},{}]}}"#, pod("from-dump"), pod("fringe"), pod("a\\nb"))).unwrap();
    let path = |word: &str| word.replace("KUBECONFIG", &kubeconfig.to_string_lossy()).replace("DUMP", &dump.to_string_lossy());
    let words: Vec<String> = line.split(' ').map(path).collect();
    names(&words).join(" ")
}

#[test]
fn contexts_are_those_of_the_kubeconfig() {
    for (line, expected) in [
        ("live --kubeconfig KUBECONFIG --context ", "arn:aws:eks:eu-1:1:cluster/a prod prod-batch"),
        ("live --kubeconfig=KUBECONFIG --context prod-", "prod-batch"),
        ("live --kubeconfig KUBECONFIG --context=prod", "prod prod-batch"),
        ("explain web --kubeconfig KUBECONFIG --context arn:aws:", "arn:aws:eks:eu-1:1:cluster/a"),
        ("live --kubeconfig KUBECONFIG --context x", ""),
        ("live --kubeconfig /nowhere --context ", ""),
        ("live --kubeconfig /dev/zero --context ", ""),
        ("live --kubeconfig DUMP --context ", ""),
        ("live --kubeconfig KUBECONFIG --theme ", ""),
        ("info --emulate 1.36", "1.36.2 1.36.3 1.36.4"),
        ("run --demo payments --what-if dr", "drain"),
        ("run --demo payments --what-if 'drain worker-b", "drain worker-b1 drain worker-b2 drain worker-b3"),
        (
            "run --demo payments --what-if \"drain worker-b1 worker-c",
            "drain worker-b1 worker-c1 drain worker-b1 worker-c2 drain worker-b1 worker-c3",
        ),
        ("run --demo payments --what-if 'add 2 li", "add 2 like"),
        ("run --demo payments --what-if 'no-verb x", ""),
        ("run --demo payments --what-if 'drain worker-b1' --what-if 'ungate batch/ga", "ungate batch/gated"),
        ("explain --from DUMP from", ""),
        ("explain --from DUMP --fixes from", "from-dump/p"),
        ("explain --from DUMP -n fringe ", "p"),
        ("explain --demo payments --fixes shop/pay", "shop/payments"),
        ("explain --demo payments -A shop/pay", "shop/payments"),
        ("explain --demo payments --no-color shop/pay", "shop/payments"),
        ("explain --demo payments -o json shop/pay", "shop/payments"),
        ("explain --demo payments -o shop/pay", ""),
        ("explain --demo payments shop/checkout-6bdb4d6684-2", "shop/checkout-6bdb4d6684-2csfs"),
        ("explain --demo payments -n shop deployment/sp", "deployment/spread"),
        ("explain --demo payments deployment/shop/sp", "deployment/shop/spread"),
        ("", ""),
    ] {
        assert_eq!(complete(line), expected, "{line}");
    }
    assert_eq!(names(&[]), Vec::<String>::new());
}

#[test]
fn namespaces_are_those_of_the_source() {
    for (line, expected) in [
        // Of the contexts of the same cluster as the chosen one.
        ("explain web --kubeconfig KUBECONFIG -n ", "batch default kube-system shop"),
        ("explain web --kubeconfig KUBECONFIG --context arn:aws:eks:eu-1:1:cluster/a --namespace ", "default kube-system web"),
        ("live --kubeconfig KUBECONFIG --only-namespace=s", "shop"),
        ("explain web --kubeconfig /nowhere -n d", ""),
        ("explain web --from DUMP -n ", "fringe from-dump"),
        ("explain web --from DUMP --namespace=fr", "fringe from-dump"),
        ("explain web --from DUMP DUMP -A -n fro", "from-dump"),
        ("explain web --from /dev/zero -n ", ""),
        ("explain web --from - -n ", ""),
        ("explain web --from / -n ", ""),
        ("explain web --demo payments -n s", "shop"),
        ("explain web --demo no-story --kubeconfig KUBECONFIG -n s", "shop"),
    ] {
        assert_eq!(complete(line), expected, "{line}");
    }
}

#[test]
fn each_option_of_names_is_completed_in_each_shell() {
    let options: Vec<String> = Cli::command()
        .get_subcommands()
        .flat_map(|sub| sub.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect::<Vec<_>>())
        .filter(|option| Names::of_option(option).is_some())
        .collect();
    // live, capture, record, explain and run connect; explain and diff have a namespace, with a short form; eight options take a release; run has what-ifs.
    assert_eq!(options.len(), 21, "{options:?}");
    let zsh = script(Shell::Zsh);
    assert_eq!(zsh.matches(":_schedscope_names'").count(), 24);
    assert!(zsh.lines().any(|line| line.starts_with("'*::pods -- ") && line.contains(":_schedscope_names'")), "{zsh}");
    assert!(zsh.starts_with("#compdef schedscope\n\n_schedscope_names() {\n"));
    let fish = script(Shell::Fish);
    assert_eq!(fish.matches("-x -a \"(__fish_schedscope_names)\"\n").count(), 21);
    assert_eq!(fish.matches("explain\" -f -a \"(__fish_schedscope_names)\"\n").count(), 1);
    let bash = script(Shell::Bash);
    assert_eq!(bash.matches("complete -F _schedscope_or_names -o").count(), 2);
    assert_eq!(bash.matches("_schedscope_or_names() {").count(), 1);
    assert!([zsh, fish, bash].iter().all(|script| script.contains("schedscope __complete") || script.contains("\"$1\" __complete")));
}

/** Taken over from the environment of this process; nothing else is, so no token of the platform can reach a command. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|HOSTNAME|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|JAVA_HOME|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|NVM_DIR|PYENV_ROOT)$/;

/** Programs must neither page nor ask: nobody is there to press a key. */
const UNATTENDED = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  TERM: 'dumb',
} as const;

/** The environment of every command: a short list of this process' own, what activation configured, and what keeps programs from asking. */
export class ShellEnvironment {
  #configured: Readonly<Record<string, string>> = {};

  constructor(private readonly own: Readonly<Record<string, string | undefined>>) {}

  configure(env: Readonly<Record<string, string>>): void {
    this.#configured = { ...env };
  }

  variables(): Record<string, string> {
    const inherited = Object.entries(this.own).filter((entry): entry is [string, string] => PASSED_ON.test(entry[0]) && entry[1] !== undefined);
    return { LANG: 'C.UTF-8', ...Object.fromEntries(inherited), ...UNATTENDED, ...this.#configured };
  }
}

import { JAVA_OPTIONS, javaOptions } from '../java/java-options.js';
import type { ProxyRelay } from '../java/proxy-relay.js';
import { askedBy, egressProxyOf } from './egress-asker.js';
import { EGRESS_CA, type TrustBundle } from './trust-bundle.js';

/**
 * Taken over from the environment of this process; nothing else is, so no token of the platform can reach a command.
 */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|HOSTNAME|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|JAVA_HOME|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|NVM_DIR|PYENV_ROOT|GIT_CEILING_DIRECTORIES)$/;

/** Programs must neither page nor ask: no user is there to press a key. */
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

/** `PS1` is that of an image without a `~/.bashrc`. */
const ATTENDED = {
  TERM: 'xterm-256color',
  COLORTERM: 'truecolor',
  PS1: String.raw`\[\e[36m\]\w\[\e[0m\] \$ `,
} as const;

/**
 * Longest variable with its name, as Linux has it, and most of what is configured: three quarters of what a program can
 * be given as a rule. Bytes.
 */
const MAX_BYTES = 128 * 1024;
const MAX_ALL_BYTES = 1536 * 1024;

/**
 * The environment of every command: a short list of this process' own, what activation configured, and what keeps
 * programs from asking.
 */
export class ShellEnvironment {
  #configured: Readonly<Record<string, string>> = {};
  #typed: Readonly<Record<string, string | null>> = {};
  /** Certificates of credential-broker; `null` where no credential is brokered. PEM. */
  #ca: string | null = null;
  #leftOut: readonly string[] = [];

  /**
   * @param trust absent: certificates of credential-broker are trusted by no command.
   * @param relay absent: Java finds no proxy.
   */
  constructor(
    private readonly own: Readonly<Record<string, string | undefined>>,
    private readonly trust?: TrustBundle,
    private readonly relay?: ProxyRelay,
  ) {}

  /**
   * What no program can be given is left out, since with it none could be started: `SLIPWAY_LEFT_OUT` then says which.
   * @param typed which of the variables the browser may type by name, each with the site that takes it; `null`: servers
   * of the sandbox.
   */
  configure(env: Readonly<Record<string, string>>, typed: Readonly<Record<string, string | null>> = {}): void {
    this.#typed = typed;
    const given: Record<string, string> = {};
    this.#ca = env[EGRESS_CA] ?? null;
    const leftOut: string[] = [];
    let room = MAX_ALL_BYTES;
    for (const [name, value] of Object.entries(env)) {
      // Commands have it in files.
      if (name === EGRESS_CA) continue;
      const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
      const fits = /^[^=\0]+$/.test(name) && !value.includes('\0') && bytes <= MAX_BYTES && bytes <= room;
      if (fits) {
        given[name] = value;
        room -= bytes;
      } else leftOut.push(name.replaceAll(/[^\w]/g, '?').slice(0, 100));
    }
    this.#leftOut = leftOut;
    this.relay?.leadTo(egressProxyOf(env));
    this.#configured = given;
  }

  /** What activation and the conversation gave, secrets too. */
  given(): Readonly<Record<string, string>> {
    return this.#configured;
  }

  /** What the browser may type by name. */
  get typedNames(): readonly string[] {
    return Object.keys(this.#typed).filter((name) => this.#configured[name] !== undefined);
  }

  /**
   * A secret that the browser may type, and the one site that takes it (`null`: servers of the sandbox); `undefined`
   * when there is none such.
   */
  typed(name: string): { readonly value: string; readonly host: string | null } | undefined {
    const value = this.#configured[name];
    const host = Object.hasOwn(this.#typed, name) ? this.#typed[name] : undefined;
    return value === undefined || host === undefined ? undefined : { value, host };
  }

  /**
   * As `variables`, without what is the conversation's own: for a server of tools, which is given no secret but by
   * name.
   */
  unattended(): Record<string, string> {
    const passed = passedOn(this.#configured);
    return askedBy({ ...this.#inherited(), ...this.#trusted(), ...passed, ...UNATTENDED }, 'tool-server');
  }

  /** @param asker whom programs name at egress-proxy as who asks; absent: nobody. */
  variables(asker?: string): Record<string, string> {
    return askedBy({ ...this.#inherited(), ...UNATTENDED, ...this.#trusted(), ...this.#configured }, asker);
  }

  /** For a user's interactive shell: programs may page, ask and draw. */
  forPeople(): Record<string, string> {
    return askedBy({ ...this.#inherited(), ...ATTENDED, ...this.#trusted(), ...this.#configured }, 'terminal');
  }

  #inherited(): Record<string, string> {
    return { LANG: 'C.UTF-8', ...passedOn(this.own) };
  }

  /** What the platform adds, before what the user's own environment says: roots, Java's options, what was left out. */
  #trusted(): Readonly<Record<string, string>> {
    const trusted = this.#ca === null || this.trust === undefined ? {} : this.trust.variables(this.#ca);
    const leftOut = trusted === null ? [...this.#leftOut, EGRESS_CA] : this.#leftOut;
    return {
      ...trusted,
      ...this.#java(),
      ...(leftOut.length === 0 ? {} : { SLIPWAY_LEFT_OUT: leftOut.join(' ').slice(0, MAX_BYTES / 2) }),
    };
  }

  #java(): Readonly<Record<string, string>> {
    const options = javaOptions({
      port: this.relay?.port ?? null,
      roots: this.#ca === null ? null : (this.trust?.javaRoots(this.#ca) ?? null),
      direct: this.#configured['NO_PROXY'] ?? '',
    });
    return options === null ? {} : { [JAVA_OPTIONS]: options };
  }
}

function passedOn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => PASSED_ON.test(entry[0]) && entry[1] !== undefined,
    ),
  );
}

import type { SandboxSecrets } from '@slipway/contracts/agent';
import type { SecretMask } from '../secrets/secret-mask.js';
import type { ActionServerClient } from './action-server-client.js';
import { gitCredentialEnv } from './git-credentials.js';

/**
 * Secrets that commands may use and no caller can read: sent by the app or by a client, masked before any command can
 * print it, kept in memory and in no file.
 */
export class HeldSecrets {
  private ofApp: Readonly<Record<string, string>> = {};
  private hosts: Readonly<Record<string, string>> = {};
  private ofClients: Readonly<Record<string, string>> = {};

  constructor(
    private readonly actionServer: ActionServerClient,
    private readonly mask: SecretMask,
  ) {}

  /** What the app gives, in place of what it gave before. */
  replace({ variables, hosts = {}, git, relays = [] }: SandboxSecrets): void {
    this.mask.addNamed(variables);
    for (const { name, username, password } of git) {
      this.mask.addNamed({ [name]: password });
      // As HTTP sends them together.
      this.mask.addNamed({ [name]: `${username}:${password}` });
    }
    for (const { token } of relays) this.mask.addNamed({ 'git access': token });
    this.ofApp = variables;
    this.hosts = hosts;
    this.actionServer.setSecrets({ ...variables, ...gitCredentialEnv(git, relays) }, this.typed);
  }

  /** What a client brings, beside what there is. */
  add(variables: Readonly<Record<string, string>>): void {
    this.mask.addNamed(variables);
    this.ofClients = { ...this.ofClients, ...variables };
    this.actionServer.addEnv(variables, this.typed);
  }

  /** Each once, in order. Credentials of git alone are not among them: no command sees them. */
  get names(): readonly string[] {
    return [...new Set([...Object.keys(this.ofApp), ...Object.keys(this.ofClients)])].sort();
  }

  /**
   * What the browser may type by name, each with the site that takes it. Those of a client have no site: they go to its
   * own servers.
   */
  private get typed(): Readonly<Record<string, string | null>> {
    return Object.fromEntries(
      this.names.map((name) => [name, (Object.hasOwn(this.ofApp, name) && this.hosts[name]) || null]),
    );
  }

  /** As commands see it; for them alone. */
  value(name: string): string | undefined {
    const own = (of: Readonly<Record<string, string>>): string | undefined =>
      Object.hasOwn(of, name) ? of[name] : undefined;
    return own(this.ofApp) ?? own(this.ofClients);
  }
}

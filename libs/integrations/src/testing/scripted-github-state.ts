import { createHmac } from 'node:crypto';

export interface ScriptedAccount {
  readonly id: number;
  readonly login: string;
  readonly type: 'Organization' | 'User';
}

export interface ScriptedApp {
  readonly id: number;
  readonly slug: string;
  readonly clientId: string;
  clientSecret: string;
  readonly webhookSecret: string;
  /** An owner may have more than one. */
  readonly pems: string[];
  readonly owner: string;
  readonly manifest: Record<string, unknown>;
}

export interface ScriptedInstallation {
  readonly id: number;
  readonly appId: number;
  readonly account: ScriptedAccount;
  readonly repositories: string[];
  permissions: Record<string, string>;
  suspended: boolean;
}

export interface MintedToken {
  readonly token: string;
  readonly installation: number;
  readonly repositories: readonly string[] | null;
  readonly permissions: Readonly<Record<string, string>>;
  readonly expiresAt: number;
}

export interface ScriptedAttempt {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly at: string;
  readonly body: string;
  readonly installation: number | null;
  status: number;
  readonly redelivery: boolean;
}

/** What GitHub knows: apps, their installations, tokens and deliveries. */
export abstract class ScriptedGitHubState {
  readonly apps = new Map<number, ScriptedApp>();
  readonly installations = new Map<number, ScriptedInstallation>();
  readonly minted: MintedToken[] = [];
  readonly attempts: ScriptedAttempt[] = [];
  readonly revoked: string[] = [];
  /** `stateless`: about 520 characters with dots, as github.com mints since 2026. */
  tokenForm: 'classic' | 'stateless' = 'classic';
  now: () => number = Date.now;
  /** Roles in organizations by login of the user and of the organization. */
  readonly roles = new Map<string, 'admin' | 'member'>();
  readonly manifests = new Map<string, { manifest: Record<string, unknown>; owner: string }>();
  readonly codes = new Map<
    string,
    { user: ScriptedAccount; challenge: string | null; redirectUri: string | null; clientId: string }
  >();
  readonly userTokens = new Map<string, { user: ScriptedAccount; appId: number }>();
  private count = 1_000;

  abstract get url(): string;

  next(): number {
    this.count += 1;
    return this.count;
  }

  async send(
    app: ScriptedApp,
    { event, guid, body }: Pick<ScriptedAttempt, 'event' | 'guid' | 'body'>,
  ): Promise<number> {
    const signature = createHmac('sha256', app.webhookSecret).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': guid,
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const { url } = app.manifest['hook_attributes'] as { url: string };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }
}

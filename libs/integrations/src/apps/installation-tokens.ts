import type { ProviderClient } from '../calls/provider-client.js';
import type { AppAccess, AppStep, InstallationToken, RegisteredApp } from './app-access.js';

/** A token is given out until so long before its end: whoever has it may be at work with it. Milliseconds. */
const BEFORE_END_MS = 5 * 60_000;
/** Tokens that are held; the oldest goes first. */
const MAX_HELD = 5_000;

export interface AskedToken {
  readonly access: AppAccess;
  readonly app: RegisteredApp;
  /** With the app's own authorization. */
  readonly connect: (authorization: string) => ProviderClient;
  /** Of the connection: another organization's tokens are never given out, whatever app and installation are. */
  readonly connectionId: string;
  readonly installationId: string;
  readonly granted: Readonly<Record<string, string>> | null;
  /** `owner/name`; `null` only for the step `list`. */
  readonly repository: string | null;
  readonly step: AppStep;
}

interface Held {
  readonly made: Promise<InstallationToken>;
  /** Until it is made: for ever, so that all wait for the one. */
  until: number;
}

/**
 * Tokens of installations, in this process's memory and nowhere else: each for one repository and one step, made once
 * for all who ask meanwhile.
 */
export class InstallationTokens {
  private readonly held = new Map<string, Held>();

  constructor(private readonly now: () => Date) {}

  /** @throws ProviderRefusal; nothing is held then. */
  async get(asked: AskedToken): Promise<InstallationToken> {
    const key = keyOf(asked);
    const known = this.held.get(key);
    if (known !== undefined && known.until > this.now().getTime()) return known.made;
    const entry: Held = { made: this.make(asked), until: Number.POSITIVE_INFINITY };
    this.held.delete(key);
    this.held.set(key, entry);
    if (this.held.size > MAX_HELD) this.held.delete(this.held.keys().next().value as string);
    try {
      const made = await entry.made;
      entry.until = made.expiresAt.getTime() - BEFORE_END_MS;
      return made;
    } catch (error) {
      if (this.held.get(key) === entry) this.held.delete(key);
      throw error;
    }
  }

  /** Forgets what the provider does not take any more. */
  drop(asked: AskedToken): void {
    this.held.delete(keyOf(asked));
  }

  private make({
    access,
    app,
    connect,
    installationId,
    granted,
    repository,
    step,
  }: AskedToken): Promise<InstallationToken> {
    return access.token(connect(access.authorization(app, this.now())), { installationId, granted, repository, step });
  }
}

/** Other permissions make another token: what was taken back or added counts at once. */
function keyOf({ app, connectionId, installationId, granted, repository, step }: AskedToken): string {
  return JSON.stringify([
    connectionId,
    app.id,
    app.clientId,
    installationId,
    repository?.toLowerCase() ?? null,
    step,
    granted,
  ]);
}

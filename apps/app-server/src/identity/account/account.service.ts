import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { dropEventsOfUser } from '@slipway/analytics';
import { Sessions, type SignedIn } from '@slipway/auth';
import { type MySettings, type UpdateMySettings, UserSettings } from '@slipway/contracts/identity';
import { type Principal } from '@slipway/contracts/organizations';
import { asSystem, inOrg, type PoolClient, type SqlPool, transactionTime } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, SQL_POOL } from '../../platform/tokens.js';
import {
  acceptTerms,
  deleteProviderToken,
  findSettings,
  type StoredSettings,
  writeSettings,
} from './account.queries.js';

/** Tries of a change that says no version, when others change the same at the same moment. */
const TRIES = 10;

/** A user's own account. Audit entries are in the personal organization. */
@Injectable()
export class AccountService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly sessions: Sessions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * @param shown the version that the user was shown; `undefined`: the present one.
   * @returns the user as they are from now on.
   * @throws SlipwayError `account.terms-changed`; `resource.not-found` where there are no terms
   */
  async acceptTerms(user: SignedIn, shown: string | undefined): Promise<SignedIn> {
    const { TERMS_VERSION: present, TERMS_URL: url } = this.config;
    if (present === undefined) throw notFound();
    if (shown !== undefined && shown !== present)
      throw new SlipwayError('account.terms-changed', `Version ${shown} was shown, but the present one is ${present}.`);
    if (user.termsVersion === present) return user;
    await this.recorded(user, async (client, actor) => {
      if (!(await acceptTerms(client, user.userId, present, this.clock.now()))) return;
      const before = user.termsVersion === null ? {} : { before: { version: user.termsVersion } };
      await client.query(
        auditOf(randomUUID(), actor, {
          action: 'terms.accept',
          target: user.userId,
          detail: { url },
          ...before,
          after: { version: present },
        }),
      );
    });
    this.sessions.changed(user.userId);
    return { ...user, termsVersion: present };
  }

  async settings(userId: string): Promise<MySettings> {
    const { settingsVersion: version, settings } = await this.stored(userId);
    return { ...readSettings(settings), version };
  }

  /**
   * @param ifMatch the ETag of what the caller has read; `undefined` or `*`: the change is applied to whatever is
   * there.
   * @throws SlipwayError `settings.changed` when there is a newer version, or too many change it at once
   */
  async changeSettings(userId: string, change: UpdateMySettings, ifMatch: string | undefined): Promise<MySettings> {
    const conditional = ifMatch !== undefined && ifMatch.trim() !== '*';
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const stored = await this.stored(userId);
      const version = stored.settingsVersion;
      if (conditional && !etagsOf(ifMatch).includes(`"${version}"`)) break;
      const after = changed(readSettings(stored.settings), change);
      if (await this.writeSettings(userId, stored, after)) return { ...after, version: version + 1 };
    }
    throw new SlipwayError('settings.changed', 'Your settings were changed in another window or by another program.');
  }

  /**
   * With the consent to analytics, which is a column of its own; one that is taken back takes what waits with it.
   * @returns false when there is a newer version.
   */
  private async writeSettings(
    userId: string,
    { settingsVersion, analyticsSince }: StoredSettings,
    settings: UserSettings,
  ): Promise<boolean> {
    if (settings.analytics === true)
      return writeSettings(this.pool, userId, settingsVersion, {
        settings,
        analyticsSince: analyticsSince ?? (await transactionTime(this.pool)),
      });
    if (analyticsSince === null) return writeSettings(this.pool, userId, settingsVersion, { settings, analyticsSince });
    return asSystem(this.pool, 'slipway_app_system', 'a user allows no analytics', async (client) => {
      const written = await writeSettings(client, userId, settingsVersion, { settings, analyticsSince: null });
      if (written) await dropEventsOfUser(client, userId);
      return written;
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  private async stored(userId: string): Promise<StoredSettings> {
    const stored = await findSettings(this.pool, userId);
    if (stored === null) throw notFound();
    return stored;
  }

  /** @returns false when there was no token of it. */
  forgetProvider(user: SignedIn, provider: string): Promise<boolean> {
    return this.recorded(user, async (client, actor) => {
      const deleted = await deleteProviderToken(client, user.userId, provider);
      if (deleted) await client.query(auditOf(randomUUID(), actor, { action: 'connection.delete', target: provider }));
      return deleted;
    });
  }

  /** One transaction of the user's personal organization, whose audit has the users' own changes. */
  private recorded<T>(
    user: SignedIn,
    work: (client: PoolClient, actor: Pick<Principal, 'orgId' | 'actor'>) => Promise<T>,
  ): Promise<T> {
    const orgId = user.orgs.find(({ kind }) => kind === 'personal')?.id;
    if (orgId === undefined) throw notFound();
    return inOrg(this.pool, orgId, (client) =>
      work(client, { orgId, actor: { kind: 'user', id: user.userId, label: user.name } }),
    );
  }
}

/**
 * What was stored by an older version, or by a newer one, may miss or have extra keys: missing ones get defaults, extra
 * ones are ignored. An unreadable value counts as not set.
 */
function readSettings(stored: unknown): UserSettings {
  const read = UserSettings.safeParse(stored);
  return read.success ? read.data : UserSettings.parse({});
}

function changed(before: UserSettings, { notifications, ...rest }: UpdateMySettings): UserSettings {
  const merged = { ...before.notifications };
  for (const [event, channels] of Object.entries(notifications ?? {})) {
    const known = event as keyof typeof merged;
    merged[known] = { ...merged[known], ...withoutAbsent(channels ?? {}) };
  }
  return { ...before, ...withoutAbsent(rest), notifications: merged };
}

function withoutAbsent<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function etagsOf(ifMatch: string): string[] {
  return ifMatch.split(',').map((tag) => tag.trim());
}

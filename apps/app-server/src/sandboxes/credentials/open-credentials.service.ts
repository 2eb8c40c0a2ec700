import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { credentialReference } from '@slipway/auth/credential-reference';
import { credentialContext, Envelope } from '@slipway/auth/envelope';
import type { Workload } from '@slipway/auth/workload-identity';
import type {
  CredentialQuestion,
  CredentialUse,
  OpenedCredential,
  OpenedCredentials,
  Place,
  ReflectedCredential,
  RestingReason,
} from '@slipway/contracts/credentials';
import { repositoryKey } from '@slipway/contracts/secrets';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { credentialsOf, type Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { orgSettingsOf } from '../../organizations/org-settings/org-settings.queries.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { rulesAbout, rulesOf } from '../egress/conversation-rules.js';
import { minAgeAt, observes } from '../egress/egress-decisions.service.js';
import { comparedHost, namesAbove } from '../egress/rule-pattern.js';
import { WorkloadIdentityService } from '../identity/workload-identity.service.js';
import { githubRepositories } from './github-repositories.js';
import {
  type AskedPlace,
  credentialsAt,
  noteUses,
  restCredential,
  type SealedCredential,
} from './open-credentials.queries.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** How long credential-broker keeps what it is given, at most. Milliseconds. */
const KEPT_MS = 60_000;
const BROKER = { kind: 'system', id: 'credential-broker', label: 'Slipway' } as const;

/**
 * Opens credentials for credential-broker: of one conversation, for one host. Called on a listener of its own, which no
 * sandbox reaches; the answer is sealed there.
 */
@Injectable()
export class OpenCredentialsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly envelope: Envelope,
    private readonly identity: WorkloadIdentityService,
  ) {}

  /**
   * With them the rules of the conversation about the host. A use is in the audit before its value is given. Nothing
   * for a conversation that is deleted or of another organization.
   * @throws SlipwayError `secret.unreadable`: none is given then.
   */
  async open(question: CredentialQuestion): Promise<OpenedCredentials> {
    const { org, claim, conversation } = question;
    const found = await this.usable(question);
    if (found === null) return given([]);
    const { active, resting, expired, at, user, environment, repository, rules } = found;
    const workload: Workload = { org, conversation, claim, user, environment, repository };
    const opened = await Promise.all(active.map((each) => this.opened(each, at, workload)));
    if (opened.length === 0) return { ...given([], resting, expired), ...rules };
    const entries = new Map(opened.map(({ id }) => [id, entryOf(org, claim, id)]));
    const noted = await inOrg(this.pool, org, (client) =>
      noteUses(client, org, { claim, conversation, host: at.host, entries }),
    );
    const credentials = opened.filter(({ id }) => noted.has(id));
    return { ...given(credentials, resting, expired), ...rules };
  }

  /** Whether this conversation may use a credential at this host now. */
  async isUsable(question: CredentialQuestion, credential: string): Promise<boolean> {
    const found = await this.usable(question);
    return found?.active.some(({ id }) => id === credential) ?? false;
  }

  /** The credential is used no more until an admin says so. */
  async rest(
    { org, credential, claim, conversation, host }: ReflectedCredential,
    reason: RestingReason = 'reflected',
  ): Promise<void> {
    await inOrg(this.pool, org, async (client) => {
      const name = await restCredential(client, org, credential, reason);
      if (name === null) return;
      await client.query(
        auditOf(
          this.ids.uuid(),
          { orgId: org, actor: BROKER },
          { action: 'credential.rest', target: credential, detail: { name, claim, conversation, host, reason } },
        ),
      );
    });
  }

  /** @returns `null` for a conversation that is deleted or of another organization. */
  private async usable({ org, claim, conversation, host, port }: CredentialQuestion) {
    if (!UUID.test(conversation)) return null;
    const at: AskedPlace = { org, conversation, host: comparedHost(host), port };
    const { found, about } = await inOrg(this.pool, org, async (client) => ({
      found: await credentialsAt(client, at),
      about: await rulesAbout(client, org, namesAbove(at.host)),
    }));
    if (found === null) return null;
    const settings = orgSettingsOf(about.settings);
    const minAgeDays = minAgeAt(settings, at.host);
    const rules = {
      rules: rulesOf(about.rules, found, { conversation, claim }),
      observes: observes(settings),
      ...(minAgeDays === null ? {} : { minAgeDays }),
    };
    const { environment, repository, user } = found;
    const all = credentialsOf(found.credentials, { environment, repository: keyOf(repository) });
    const resting = all.filter(({ state }) => state === 'resting').map(({ name }) => name);
    const isOver = ({ endsInMs }: SealedCredential): boolean => endsInMs !== null && endsInMs <= 0;
    const expired = all.filter((each) => each.state === 'active' && isOver(each)).map(({ name }) => name);
    const active = all.filter((each) => each.state === 'active' && !isOver(each) && placesAt(each.use, at).length > 0);
    return { active, resting, expired, at, user, environment, repository, rules };
  }

  private async opened(
    { id, name, scope, scopeValue, use, sealed, keyVersion, referenceKey, endsInMs }: SealedCredential,
    { org, conversation, host, port }: AskedPlace,
    workload: Workload,
  ): Promise<OpenedCredential> {
    const context = credentialContext({ id, name, scope, scopeValue, use });
    const value = await this.envelope.open(org, { bytes: sealed, keyVersion }, context).catch((error: unknown) => {
      throw new SlipwayError('secret.unreadable', `The credential ${name} cannot be opened.`, { cause: error });
    });
    const places = placesAt(use, { host, port });
    const reference =
      use.form === 'placeholder'
        ? credentialReference({ name, shape: use.shape, key: referenceKey, conversation })
        : null;
    const audience = audienceOf(use);
    const identity = audience === null ? null : await this.identity.tokenFor(workload, audience);
    // A refresh token leaves only with the lease to use it.
    const shown = use.form === 'oauth-refresh-token' ? '' : value;
    const narrowed =
      use.form === 'github-app' ? { ...use, repositories: githubRepositories(use, workload.repository) } : use;
    return { id, name, scope, use: { ...narrowed, places }, value: shown, reference, identity, endsInMs };
  }
}

/** Of the token of workload identity that a form uses; `null`: it uses none. */
function audienceOf(use: CredentialUse): string | null {
  if (use.form === 'workload-token') return use.audience;
  return use.form === 'token-exchange' ? use.subjectAudience : null;
}

const placesAt = ({ places }: CredentialUse, at: Pick<AskedPlace, 'host' | 'port'>): Place[] =>
  places.filter(({ host, port }) => host === at.host && port === at.port);

const keyOf = (repository: string | null): string | null =>
  repository !== null && URL.canParse(repository) ? repositoryKey(repository) : repository;

/** A broker of an older release keeps nothing past its end either. */
const given = (credentials: OpenedCredential[], resting: string[] = [], expired: string[] = []): OpenedCredentials => ({
  credentials,
  resting,
  expired,
  ttlMs: Math.max(0, Math.floor(Math.min(KEPT_MS, ...credentials.map(({ endsInMs }) => endsInMs ?? KEPT_MS)))),
});

/** Id of the audit entry, a UUID of version 8: the same for the same claim and credential. */
function entryOf(org: string, claim: string, credential: string): string {
  const words = JSON.stringify(['credential.use', org, claim, credential]);
  const hex = createHash('sha256').update(words).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

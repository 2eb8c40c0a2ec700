import { Inject, Injectable } from '@nestjs/common';
import type { OrgSettingValues } from '@slipway/contracts/organizations';
import {
  type EgressDecision,
  type EgressQuestion,
  type EgressRequest,
  isPackageHost,
  MAX_EGRESS_REQUESTS_PER_HOUR,
  MAX_WAITING_EGRESS_REQUESTS,
  OBSERVED_RULE,
} from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type Clock, type CredentialScoped, credentialsOf, type Ids } from '@slipway/domain';
import { decideEgress, EGRESS_OPEN_PORTS } from '@slipway/net';
import { lockSandbox } from '../../conversations/conversations.queries.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { orgSettingsOf } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { decidable, keyOf, rulesOf } from './conversation-rules.js';
import { notifyAgent } from './egress-notice.js';
import { countRequests, type EgressPlace, insertRequest, readPlace, tryAgain } from './egress-requests.queries.js';
import { recordObserved } from './observed-hosts.queries.js';
import { comparedHost, isOfInternet, namesAbove } from './rule-pattern.js';

export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** How long egress-proxy may go by an answer; a change reaches it before. Milliseconds. */
const DECIDED_MS = 5_000;
const ASKED_MS = 500;

/**
 * Whether a sandbox may reach a host: by the rules and credentials of its organization and by the installation's list,
 * else a user is asked. Called by egress-proxy, on a listener of its own.
 */
@Injectable()
export class EgressDecisionsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
  ) {}

  async decide(asked: EgressQuestion): Promise<EgressDecision> {
    const conversation = asked.conversation !== null && UUID.test(asked.conversation) ? asked.conversation : null;
    const question = { ...asked, conversation, host: comparedHost(asked.host) };
    const place = await inOrg(this.pool, question.org, (client) =>
      readPlace(client, question, namesAbove(question.host)),
    );
    const { listed } = question;
    if (place === null) return decided(listed ? 'allow' : 'deny', null);
    // A conversation that is deleted, or of another organization, is nobody's to reach anything for; what the
    // installation lists is for all, but at the place of a credential or of a limited rule it would pass unopened.
    const isGone = conversation !== null && place.conversation === null;
    const settings = orgSettingsOf(place.settings);
    const keepsNewAway = minAgeAt(settings, question.host) !== null;
    const judges = keepsNewAway || place.credentials.length > 0 || place.rules.some(({ limits }) => limits !== null);
    if (isGone && (!listed || judges)) return decided('deny', null);
    const rules = rulesOf(place.rules, place.conversation, question).map(decidable);
    const verdict = decideEgress(rules, EGRESS_OPEN_PORTS, {
      host: question.host,
      port: question.port,
      now: this.clock.now().getTime(),
      openedBy: question.openedBy,
    });
    if (verdict.verdict === 'deny') return decided('deny', verdict.rule.id);
    const [credential] = credentialsFor(place);
    // A resting one counts too: what is at its place does not pass unopened.
    const brokered = keepsNewAway || credential !== undefined || verdict.opened;
    if (verdict.verdict === 'allow' && !isGone) return decided('allow', verdict.rule.id, brokered);
    if (credential !== undefined) return decided('allow', `credential:${credential.id}`, true);
    if (listed) return decided('allow', null, brokered);
    if (place.conversation === null) return decided('deny', null);
    if (observes(settings) && (await this.observe(question))) return decided('allow', OBSERVED_RULE, brokered);
    // Nobody asks for what is open already: its rule was removed.
    if (settings.egressUnknown === 'refuse' || question.openedBy !== null) return decided('deny', null);
    return this.ask(question);
  }

  /** @returns whether the connection is recorded, and so let through: its host may be allowed by a rule. */
  private async observe({ org, conversation, host, port, openedBy }: EgressQuestion): Promise<boolean> {
    if (conversation === null || !isOfInternet(host)) return false;
    // It was recorded when it began.
    if (openedBy === OBSERVED_RULE) return true;
    return inOrg(this.pool, org, (client) => recordObserved(client, { org, conversation, host, port }));
  }

  private async ask(question: EgressQuestion): Promise<EgressDecision> {
    const { org, conversation } = question;
    if (conversation === null) return decided('deny', null);
    let publish = (): void => {};
    let notifies = false;
    const decision = await inOrg(this.pool, org, async (client): Promise<EgressDecision> => {
      const known = await tryAgain(client, question);
      if (known?.state === 'waiting') return asks(known.id);
      if (known?.state === 'denied' && known.recent) return decided('deny', null);
      // Before the lock, so that a sandbox that asks for thousands keeps nobody from its conversation.
      if (isFull(await countRequests(client, org, conversation))) return tooMany();
      const row = await lockSandbox(client, org, conversation);
      if (row === null) return decided('deny', null);
      // Another connection may have asked while this one waited for the lock.
      const other = await tryAgain(client, question);
      if (other?.state === 'waiting') return asks(other.id);
      if (isFull(await countRequests(client, org, conversation))) return tooMany();
      const request = await insertRequest(client, this.ids.prefixed('egq'), question);
      publish = await this.ingest.appendPlatform(client, org, conversation, {
        events: [egressEvent(this.ids, this.clock, 'environment', request)],
        row,
      });
      notifies = await notifyAgent(client, org, this.ids, { conversationId: conversation, row, request, start: false });
      return asks(request.id);
    });
    publish();
    if (notifies) this.jobs.enqueue('conversation-deliver', org, conversation);
    return decision;
  }
}

/** Beside `brokered-only` only what somebody allowed leaves, whichever of the two was set last. */
export function observes({
  egressUnknown,
  secretsInSandbox,
}: Pick<OrgSettingValues, 'egressUnknown' | 'secretsInSandbox'>): boolean {
  return egressUnknown === 'observe' && secretsInSandbox !== 'brokered-only';
}

/** Days for which files of a host are kept away after they were published; `null`: they are not. */
export function minAgeAt(
  { packageMinAgeDays, packageHosts }: Pick<OrgSettingValues, 'packageMinAgeDays' | 'packageHosts'>,
  host: string,
): number | null {
  return packageMinAgeDays !== null && isPackageHost(packageHosts, host) ? packageMinAgeDays : null;
}

/** A request in the conversation's log, as it is now. */
export function egressEvent(ids: Ids, clock: Clock, source: 'environment' | 'user', value: EgressRequest) {
  return {
    id: ids.uuid(),
    timestamp: clock.now().toISOString(),
    source,
    kind: 'ConversationStateUpdateEvent',
    key: 'egress_request',
    value,
  } as const;
}

/** Those that its conversation may use, the narrowest first; none where nobody knows for whom the sandbox works. */
export function credentialsFor({
  credentials,
  conversation,
}: Pick<EgressPlace, 'credentials' | 'conversation'>): CredentialScoped[] {
  if (conversation === null) return [];
  const { environment, repository } = conversation;
  return credentialsOf(credentials, { environment, repository: repository === null ? null : keyOf(repository) });
}

const decided = (decision: 'allow' | 'deny', rule: string | null, brokered = false): EgressDecision => ({
  decision,
  rule,
  ttlMs: DECIDED_MS,
  request: null,
  brokered,
});
const isFull = ({ waiting, hour }: { readonly waiting: number; readonly hour: number }): boolean =>
  waiting >= MAX_WAITING_EGRESS_REQUESTS || hour >= MAX_EGRESS_REQUESTS_PER_HOUR;
const tooMany = (): EgressDecision => ({
  decision: 'too-many',
  rule: null,
  ttlMs: ASKED_MS,
  request: null,
  brokered: false,
});
const asks = (request: string): EgressDecision => ({
  decision: 'ask',
  rule: null,
  ttlMs: ASKED_MS,
  request,
  brokered: false,
});

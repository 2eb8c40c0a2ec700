import { Inject, Injectable } from '@nestjs/common';
import {
  type AskedUse,
  type CredentialUseDecision,
  type CredentialUseQuestion,
  type Place,
  wordsOfPlace,
} from '@slipway/contracts/credentials';
import { MAX_EGRESS_REQUESTS_PER_HOUR, MAX_WAITING_EGRESS_REQUESTS } from '@slipway/contracts/sandboxes';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { lockSandbox } from '../../conversations/conversations.queries.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { Jobs } from '../../platform/jobs.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { OpenCredentialsService } from '../credentials/open-credentials.service.js';
import { egressEvent } from '../egress/egress-decisions.service.js';
import { notifyAgent } from '../egress/egress-notice.js';
import { countRequests } from '../egress/egress-requests.queries.js';
import {
  countUses,
  insertUse,
  insertUseRequest,
  lockUses,
  readUse,
  shareCredential,
  takeYes,
  tryUseAgain,
} from './credential-uses.queries.js';
import { keysOf, placeKey, type UseKeys } from './use-keys.js';

/** Of the ids of requests to use a credential. */
export const USE_REQUEST = 'cuq';

/** A place, the credential whose it is, and what a request there is found by. */
interface Usable {
  readonly name: string;
  readonly place: Place;
  readonly keys: UseKeys;
}

/**
 * Whether a request of a sandbox gets its credential, at places that ask or are limited. Called by credential-broker
 * after it has judged the request and before a byte of it leaves. Decided and taken in one transaction, under a lock of
 * the conversation's uses: of racing requests no more pass than were allowed.
 */
@Injectable()
export class CredentialUsesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    private readonly credentials: OpenCredentialsService,
  ) {}

  async decide(question: CredentialUseQuestion): Promise<CredentialUseDecision> {
    const { org, conversation, credential, claim, host, port } = question;
    if (!(await this.credentials.isUsable({ org, claim, conversation, host, port }, credential)))
      return says('changed');
    let after = (): void => {};
    const decision = await inOrg(this.pool, org, async (client): Promise<CredentialUseDecision> => {
      await lockUses(client, org, conversation);
      const usable = await this.usable(client, question);
      if (usable === null) return says('changed');
      const { place, keys } = usable;
      const known = await readUse(client, org, question.use);
      if (known !== null) return says(known === keys.request ? 'pass' : 'changed');
      const limit = place.usesPerConversation;
      if (limit !== undefined && (await countUses(client, question, keys)) >= limit) return says('spent');
      const asks = place.ask === 'first-use' || place.ask === 'each-use';
      if (asks && !(await takeYes(client, question, keys, place.ask === 'each-use'))) {
        const asked = await this.ask(client, question, usable);
        after = asked.after;
        return asked.decision;
      }
      await insertUse(client, question, keys, limit !== undefined);
      return says('pass');
    });
    after();
    return decision;
  }

  /** @returns `null` where the credential has no such place now. */
  private async usable(client: PoolClient, question: CredentialUseQuestion): Promise<Usable | null> {
    const { org, credential, place: judged, host, port } = question;
    const found = await shareCredential(client, org, credential);
    const key = placeKey(judged);
    const place = found?.use.places.find((each) => placeKey(each) === key);
    if (found === null || place === undefined || place.host !== host || place.port !== port) return null;
    return { name: found.name, place, keys: keysOf(place, question) };
  }

  /** @returns the decision, and what is done after the transaction. */
  private async ask(
    client: PoolClient,
    question: CredentialUseQuestion,
    { name, place, keys }: Usable,
  ): Promise<{ readonly decision: CredentialUseDecision; readonly after: () => void }> {
    const { org, conversation } = question;
    const nothing = (decision: CredentialUseDecision) => ({ decision, after: () => {} });
    const known = await tryUseAgain(client, question, keys);
    if (known.waiting !== null) return nothing(says('ask', known.waiting));
    if (known.denied) return nothing(says('denied'));
    const { waiting, hour } = await countRequests(client, org, conversation);
    if (waiting >= MAX_WAITING_EGRESS_REQUESTS || hour >= MAX_EGRESS_REQUESTS_PER_HOUR)
      return nothing(says('too-many'));
    const row = await lockSandbox(client, org, conversation);
    if (row === null) return nothing(says('changed'));
    const request = await insertUseRequest(client, this.ids.prefixed(USE_REQUEST), question, {
      keys,
      asked: askedUse(question, { name, place }),
    });
    const publish = await this.ingest.appendPlatform(client, org, conversation, {
      events: [egressEvent(this.ids, this.clock, 'environment', request)],
      row,
    });
    const about = { conversationId: conversation, row, request, start: false };
    const notifies = await notifyAgent(client, org, this.ids, about);
    const after = (): void => {
      publish();
      if (notifies) this.jobs.enqueue('conversation-deliver', org, conversation);
    };
    return { decision: says('ask', request.id), after };
  }
}

function askedUse(
  { credential, method, path, queryBytes, bodyBytes, bodyType, refs }: CredentialUseQuestion,
  { name, place }: Pick<Usable, 'name' | 'place'>,
): AskedUse {
  return {
    credential: { id: credential, name },
    ask: place.ask === 'each-use' ? 'each-use' : 'first-use',
    place: wordsOfPlace(place),
    method,
    path,
    queryBytes,
    bodyBytes,
    bodyType,
    refs,
  };
}

const says = (decision: CredentialUseDecision['decision'], request: string | null = null): CredentialUseDecision => ({
  decision,
  request,
});

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BrokerLine,
  type CredentialUseDecision,
  type CredentialUseQuestion,
  isAskedPlace,
  MAX_ASKED_PATH,
  MAX_ASKED_REFS,
} from '@slipway/contracts/credentials';
import type { Logger } from '@slipway/telemetry';
import type { Judged, Passed } from '../judge/judge-request.js';
import { refused, unsupported } from '../judge/refusal.js';
import { type RequestHead, valuesOf } from '../judge/request-head.js';
import type { ControlClient } from './control-client.js';

/** How often an answer is looked for while a request waits. Milliseconds. */
const POLL_MS = 500;
/** Requests of one sandbox that wait at once; more are refused while theirs is asked. */
const MAX_HELD = 16;
const MAX_TYPE = 200;
const MAX_REF = 250;

export interface UseAskingOptions {
  readonly client: Pick<ControlClient, 'use'>;
  readonly logger: Logger;
  /** How long a request waits for a user. Milliseconds. */
  readonly holdMs: number;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

/** A request before a byte of it leaves. */
export interface AskedRequest {
  readonly line: BrokerLine;
  readonly judged: Judged;
  /** As the client sent it, without any value. */
  readonly head: RequestHead;
  /** Branches of a push; empty for any other request. */
  readonly refs: readonly string[];
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/**
 * Asks app-server about uses at places that ask a user or are limited. app-server decides and counts; here a request
 * only waits. Without its word nothing is passed on.
 */
export class UseAsking {
  /** By sandbox. */
  private readonly held = new Map<string, number>();
  private readonly now: () => number;

  constructor(private readonly options: UseAskingOptions) {
    this.now = options.now ?? (() => performance.now());
  }

  /**
   * Whether the use is decided by app-server. At a place of git those of pushes are; reading passes.
   * @param refs of a push, as soon as they are read.
   */
  static concerns({ credential, place, git }: Passed, refs: readonly string[] | null): boolean {
    if (credential === null || place === null || !isAskedPlace(place)) return false;
    return git === null ? refs === null : refs !== null && refs.length > 0;
  }

  /**
   * Returns when the use is allowed, and counted.
   * @throws SlipwayError `credential.asked`, `.asked-too-often`, `.use-denied`, `.uses-spent`, `.undecided`,
   * `.unsupported`.
   */
  async settle(asked: AskedRequest): Promise<void> {
    const question = questionOf(asked);
    const { claim } = question;
    const until = this.now() + this.options.holdMs;
    const count = this.held.get(claim) ?? 0;
    this.held.set(claim, count + 1);
    try {
      for (;;) {
        const decision = await this.ask(question, asked);
        if (decision?.decision === 'pass') return;
        const mayWait = count < MAX_HELD && this.now() + POLL_MS < until && !asked.signal.aborted;
        if (decision !== null && decision.decision !== 'ask') throw refusal(decision, asked);
        if (!mayWait) throw decision === null ? undecided(asked) : refusal(decision, asked);
        await sleep(POLL_MS, undefined, { signal: asked.signal }).catch(() => {});
      }
    } finally {
      const left = (this.held.get(claim) ?? 1) - 1;
      if (left === 0) this.held.delete(claim);
      else this.held.set(claim, left);
    }
  }

  /** @returns `null` without an answer. The same question may be sent again: it is of one request. */
  private async ask(question: CredentialUseQuestion, { line }: AskedRequest): Promise<CredentialUseDecision | null> {
    try {
      return await this.options.client.use(question);
    } catch (err) {
      const { org, host } = line;
      this.options.logger.warn({ err, org_id: org, host, credential: question.credential }, 'use not decided');
      return null;
    }
  }
}

function questionOf({ line, judged, head, refs }: AskedRequest): CredentialUseQuestion {
  const { claim, org, conversation, host, port } = line;
  const { path, query } = head.target;
  if (path.length > MAX_ASKED_PATH)
    throw unsupported(`A path of more than ${MAX_ASKED_PATH} characters cannot be shown to a user, who is asked here.`);
  if (refs.length > MAX_ASKED_REFS || refs.some((ref) => ref.length > MAX_REF))
    throw unsupported(`A push that a user is asked about names at most ${MAX_ASKED_REFS} branches.`);
  return {
    claim,
    org,
    conversation,
    host,
    port,
    credential: judged.credential.id,
    place: judged.place,
    use: randomUUID(),
    method: head.method,
    path,
    queryBytes: query === null ? null : Buffer.byteLength(query),
    queryHash: query === null ? null : createHash('sha256').update(query).digest('base64url'),
    bodyBytes: bodyBytes(head),
    bodyType: bodyType(head),
    refs: [...refs],
  };
}

/** `null`: the client does not say it. */
function bodyBytes({ headers }: RequestHead): number | null {
  if (valuesOf(headers, 'transfer-encoding').length > 0) return null;
  const [length] = valuesOf(headers, 'content-length');
  return length === undefined ? 0 : Number(length);
}

function bodyType({ headers }: RequestHead): string | null {
  const [type] = valuesOf(headers, 'content-type');
  const media = type?.split(';')[0]?.trim().toLowerCase().slice(0, MAX_TYPE) ?? '';
  return media === '' ? null : media;
}

function refusal({ decision, request }: CredentialUseDecision, { judged: { credential }, line }: AskedRequest) {
  const { host } = line;
  const { name } = credential;
  switch (decision) {
    case 'denied':
      return refused('credential.use-denied', 'use-denied', `A user has refused to use ${name} for this at ${host}.`);
    case 'spent':
      return refused(
        'credential.uses-spent',
        'spent',
        `${name} was used at this place as often as one conversation may.`,
      );
    case 'too-many':
      return refused(
        'credential.asked-too-often',
        'asked-too-often',
        `${name} at ${host} needs a user's yes, and too many requests wait for one already.`,
      );
    case 'ask':
      return refused(
        'credential.asked',
        'asked',
        `A user was asked whether ${name} may be used for this at ${host} (${request ?? ''}).`,
      );
    default:
      return refused('credential.undecided', 'undecided', `${name} was changed while the request came; send it again.`);
  }
}

const undecided = ({ judged: { credential }, line: { host } }: AskedRequest) =>
  refused(
    'credential.undecided',
    'undecided',
    `Whether ${credential.name} may be used at ${host} cannot be decided now.`,
  );

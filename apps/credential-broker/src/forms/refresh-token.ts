import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrokerLine, CredentialUse, RenewalOutcome, RenewalQuestion } from '@slipway/contracts/credentials';
import type { Logger } from '@slipway/telemetry';
import type { ControlClient } from '../control/control-client.js';
import type { UpstreamOptions } from '../forward/upstream.js';
import { refused } from '../judge/refusal.js';
import type { Issued, TokenCredential } from './issued.js';
import { askForToken, rejection, TokenRefused } from './token-endpoint.js';

/** Longest that a request waits for a token. Milliseconds. */
const WAIT_MS = 20_000;
/** Pauses while another replica renews it. Milliseconds. */
const BUSY_MS = 250;
/** How long the outcome of a renewal is reported again and again: until then it is here alone. Milliseconds. */
const REPORT_MS = 600_000;
const RETRY_MS = 200;
const RETRY_MAX_MS = 5_000;

type RefreshCredential = TokenCredential<Extract<CredentialUse, { form: 'oauth-refresh-token' }>>;

export interface RefreshTokensOptions {
  readonly client: Pick<ControlClient, 'renew' | 'renewed'>;
  readonly upstream: UpstreamOptions;
  readonly logger: Logger;
}

/**
 * Access tokens for refresh tokens (RFC 6749, 6), of which app-server keeps both. One process at a time is given a
 * refresh token, uses it, and has what comes of it kept before anything is done with it: a server may take each refresh
 * token once.
 */
export class RefreshTokens {
  private readonly closing = new AbortController();

  constructor(private readonly options: RefreshTokensOptions) {}

  /**
   * @param refusedToken an access token that a place did not take: another one is needed.
   * @throws SlipwayError `credential.rejected`, `credential.unreachable`, `credential.resting`,
   * `credential.undecided`.
   */
  async issue(line: BrokerLine, credential: RefreshCredential, refusedToken: string | null): Promise<Issued> {
    const { claim, org, conversation, host, port } = line;
    const question: RenewalQuestion = {
      ...{ claim, org, conversation, host, port },
      credential: credential.id,
      refused: refusedToken === null ? null : createHash('sha256').update(refusedToken).digest('base64'),
    };
    for (const until = performance.now() + WAIT_MS; performance.now() < until; ) {
      const answer = await this.options.client.renew(question).catch((cause: unknown) => {
        throw undecided(credential, cause);
      });
      switch (answer.state) {
        case 'issued':
          return { value: answer.accessToken, seconds: answer.seconds };
        case 'resting':
          throw refused('credential.resting', 'resting', `${credential.name} is not used now. An admin reads why.`);
        case 'lease':
          return this.renew(question, credential, answer, until);
        case 'busy':
          await sleep(BUSY_MS, undefined, { signal: this.closing.signal });
      }
    }
    throw undecided(credential);
  }

  close(): void {
    this.closing.abort();
  }

  private async renew(
    question: RenewalQuestion,
    credential: RefreshCredential,
    { lease, refreshToken, clientSecret }: { lease: string; refreshToken: string; clientSecret: string | null },
    until: number,
  ): Promise<Issued> {
    const { use, name } = credential;
    const asked = {
      name,
      tokenUrl: use.tokenUrl,
      parameters: { grant_type: 'refresh_token', refresh_token: refreshToken, scope: use.scope },
      client: { clientId: use.clientId, clientAuth: use.clientAuth, secret: clientSecret ?? '' },
    };
    let sent = false;
    const answer = await askForToken(asked, this.options.upstream, () => {
      sent = true;
    }).catch((error: unknown) => ({ error }));
    if ('error' in answer) {
      await this.report(question, lease, failureOf(answer.error, sent), until);
      throw rejection(asked, answer.error);
    }
    const { access_token: accessToken, refresh_token: next, expires_in: seconds } = answer;
    const kept = await this.report(
      question,
      lease,
      { outcome: 'issued', accessToken, refreshToken: next ?? null, seconds: seconds ?? null },
      until,
    );
    if (!kept) throw undecided(credential);
    return { value: accessToken, seconds };
  }

  /**
   * @returns whether app-server has kept it, for a token that was issued, by `until`; the report goes on after that.
   */
  private async report(
    question: RenewalQuestion,
    lease: string,
    outcome: RenewalOutcome,
    until: number,
  ): Promise<boolean> {
    const reported = this.untilHeard(question, lease, outcome);
    const late = sleep(Math.max(0, until - performance.now()), false, { ref: false });
    return Promise.race([reported, late]);
  }

  private async untilHeard(question: RenewalQuestion, lease: string, outcome: RenewalOutcome): Promise<boolean> {
    const { client, logger } = this.options;
    const { signal } = this.closing;
    const end = performance.now() + REPORT_MS;
    for (let pauseMs = RETRY_MS; performance.now() < end; pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS)) {
      try {
        return await client.renewed(question, lease, outcome);
      } catch (err) {
        logger.warn(
          { err, org_id: question.org, credential: question.credential, outcome: outcome.outcome },
          'renewal of a credential not reported, will retry',
        );
      }
      if (signal.aborted) return false;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
    return false;
  }
}

/** What is known of the refresh token that was used. */
function failureOf(error: unknown, sent: boolean): RenewalOutcome {
  if (error instanceof TokenRefused) return { outcome: 'refused', isGrant: error.code === 'invalid_grant' };
  return { outcome: sent ? 'unknown' : 'unsent' };
}

const undecided = ({ name }: RefreshCredential, cause?: unknown) =>
  refused('credential.undecided', 'undecided', `An access token for ${name} cannot be had now.`, cause);

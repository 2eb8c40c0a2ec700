import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type Dispatch, ProviderClient, type ProviderClientOptions, ProviderRefusal } from '@slipway/integrations';
import { type Credential, freshDispatch } from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { isRefusedAddress } from '@slipway/outside/agent';
import type { Config } from '../config.js';
import { CLOCK, CONFIG } from '../platform/tokens.js';

/** Longest wait for one answer while a user waits for ours. Milliseconds. */
const TIMEOUT_MS = 8_000;

/**
 * Longest answer while a user waits: a page of a hundred repositories of GitHub has 0.7 MB. Bytes; parsing blocks all
 * other requests meanwhile.
 */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * Calls to providers within requests: to https at public addresses, and to the hosts of `INTEGRATION_PRIVATE_HOSTS`.
 */
@Injectable()
export class ProviderCalls implements OnApplicationShutdown {
  private readonly dispatch: ProviderDispatch;
  private readonly closing = new AbortController();

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.dispatch = new ProviderDispatch(config.INTEGRATION_PRIVATE_HOSTS);
  }

  /** @param authorization the whole header; `null`: none is sent. */
  client(
    baseUrl: string,
    authorization: string | null,
    limits: Pick<ProviderClientOptions, 'maxAnswerBytes' | 'timeoutMs'> = {},
  ): ProviderClient {
    return this.made(
      baseUrl,
      authorization,
      (url, request) => this.dispatch.send(url, request, this.closing.signal),
      limits,
    );
  }

  /** A socket under the same guard. @throws SlipwayError `settings.url-refused` */
  socket(url: string): ReturnType<ProviderDispatch['socket']> {
    return this.dispatch.socket(url);
  }

  /**
   * Of the API with a connection's credential. A call that is refused for it is made once more where there is another
   * by then. @param other asks for that one.
   */
  clientOf(
    baseUrl: string,
    authorization: (token: string) => string,
    credential: Pick<Credential, 'id' | 'token'>,
    other: () => Promise<Pick<Credential, 'id' | 'token'> | null>,
  ): ProviderClient {
    const send: Dispatch = (url, request) => this.dispatch.send(url, request, this.closing.signal);
    return this.made(
      baseUrl,
      authorization(credential.token),
      freshDispatch(send, authorization, credential, other),
      {},
    );
  }

  /** What a failed call is for a caller of the API; anything but a refusal of a provider is answered as it is. */
  problem(error: unknown, host: string): unknown {
    if (isRefusedAddress(error))
      return new SlipwayError(
        'settings.url-refused',
        `${host} is not at a public address, and the operator has not named it (INTEGRATION_PRIVATE_HOSTS).`,
      );
    if (!(error instanceof ProviderRefusal)) return error;
    // Its message may hold what the provider wrote: it is never logged, since it may contain the request.
    const internal = `${host}: ${error.kind} ${error.status ?? 'without an answer'}`;
    if (error.kind === 'limited' || error.kind === 'unavailable') {
      const waitMs = error.retryAt === null ? 0 : error.retryAt.getTime() - this.clock.now().getTime();
      const detail = error.kind === 'limited' ? `${host} limits our calls.` : `${host} does not answer.`;
      return new SlipwayError('integration.provider-away', detail, {
        internal,
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      });
    }
    return new SlipwayError('integration.provider-refused', `${host} ${REFUSALS[error.kind]}.`, { internal });
  }

  private made(
    baseUrl: string,
    authorization: string | null,
    dispatch: Dispatch,
    limits: Pick<ProviderClientOptions, 'maxAnswerBytes' | 'timeoutMs'>,
  ): ProviderClient {
    const now = (): Date => this.clock.now();
    return new ProviderClient({
      maxAnswerBytes: MAX_ANSWER_BYTES,
      timeoutMs: TIMEOUT_MS,
      ...limits,
      baseUrl,
      authorization,
      dispatch,
      now,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.closing.abort(new Error('the process ends'));
    await this.dispatch.close();
  }
}

const REFUSALS: Readonly<Record<Exclude<ProviderRefusal['kind'], 'limited' | 'unavailable'>, string>> = {
  credential: 'does not take the credential',
  forbidden: 'does not allow it with this credential',
  missing: 'knows nothing at the address that was asked',
  conflict: 'refused the call',
  invalid: 'refused the call',
  unreadable: 'gave an answer that is none of this provider’s',
};

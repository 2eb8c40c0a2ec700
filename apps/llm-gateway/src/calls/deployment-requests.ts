import type { Claim } from '../budgets/admission.js';
import type { Granted } from '../budgets/call-bound.js';
import type { Deployment } from '../routing/deployment.js';
import type { Dispatchers } from '../routing/dispatchers.js';
import type { Answer, Asked } from '../wire/exchange.js';
import { openExchange } from '../wire/open-exchange.js';
import type { Attempt } from './attempt.js';
import type { Call } from './call.js';

export interface PreparedRequest {
  readonly answer: Answer;
  readonly send: (attempt: Attempt) => void;
}

/** The requests of one call to deployments: what was asked, within what the call was granted. */
export class DeploymentRequests {
  private limits: Granted = { limit: null, searches: null };

  constructor(
    private readonly call: Call,
    private readonly asked: Asked,
    /** What it may come to at most. */
    private readonly claim: Claim,
    private readonly dispatchers: Dispatchers,
  ) {}

  /** Limits in the request prepared last. */
  get granted(): Granted {
    return this.limits;
  }

  get streamed(): boolean {
    return this.asked.stream;
  }

  get bodyBytes(): number {
    return this.asked.body.length;
  }

  /** @throws (rejects) as `Call.record`. */
  record(deployment: Deployment): void | Promise<void> {
    return this.call.record(this.claim, deployment);
  }

  /** @throws SlipwayError when the deployment cannot be asked for what the request says. */
  prepare(deployment: Deployment): PreparedRequest {
    this.limits = this.call.granted;
    const exchange = openExchange({ ...this.asked, ...this.limits }, deployment.target);
    const { firstByteTimeoutMs, silenceTimeoutMs, guarded } = deployment.settings;
    const dispatcher = this.dispatchers.for(exchange.origin, guarded);
    return {
      answer: exchange.answer,
      send: (attempt) => {
        dispatcher.dispatch(
          {
            origin: exchange.origin,
            path: exchange.path,
            method: exchange.method,
            headers: exchange.headers,
            body: exchange.body,
            headersTimeout: firstByteTimeoutMs,
            bodyTimeout: silenceTimeoutMs,
          },
          attempt,
        );
      },
    };
  }
}

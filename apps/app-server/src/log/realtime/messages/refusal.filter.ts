import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import { storeUnavailable, toProblem } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { LOGGER } from '../../../platform/tokens.js';
import type { Acknowledge } from './socket-message.js';

/** How a client of a socket gets an error: code and detail of the problem document. */
export interface Refusal {
  readonly ok: false;
  readonly code: string;
  readonly detail: string;
}

/** Turns what a guard or a handler of a message throws into its answer. 5xx are logged with their cause. */
@Catch()
export class RefusalFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    // Arguments of a message: socket, message, answer, name.
    host.getArgByIndex<Acknowledge<Refusal>>(2)(refusalOf(thrown, this.logger));
  }
}

export function refusalOf(thrown: unknown, logger: Logger): Refusal {
  const problem = toProblem(storeUnavailable(thrown) ?? thrown, { docsUrl: '' });
  if (problem.status >= 500)
    logger.error({ err: problem.error, cause: problem.error.more.cause }, 'failed to handle a request of a socket');
  return { ok: false, code: problem.body.code, detail: problem.body.detail };
}

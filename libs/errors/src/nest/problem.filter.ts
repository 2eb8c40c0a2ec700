import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { currentContext, type Logger } from '@slipway/telemetry';
import type { FastifyReply } from 'fastify';
import { notFound, SlipwayError, toProblem } from '../slipway-error.js';
import { storeUnavailable } from '../store-unavailable.js';

/** The one place that turns a thrown value into a response. 5xx are logged with their cause. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly docsUrl: string,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const requestId = currentContext()?.requestId;
    const problem = toProblem(fromFramework(thrown), {
      docsUrl: this.docsUrl,
      ...(requestId === undefined ? {} : { requestId }),
    });
    if (problem.status >= 500)
      this.logger.error(
        { err: problem.error, code: problem.error.code, cause: problem.error.more.cause },
        problem.error.message,
      );
    if (reply.raw.headersSent) return void reply.raw.destroy();
    void reply.code(problem.status).headers(problem.headers).type('application/problem+json').send(problem.body);
  }
}

/** What Nest and Fastify throw by themselves, in our codes. */
function fromFramework(thrown: unknown): unknown {
  if (thrown instanceof SlipwayError) return thrown;
  // Nest wraps Fastify's errors, with the original as cause.
  const code =
    (thrown as { code?: unknown } | null)?.code ?? (thrown as { cause?: { code?: unknown } } | null)?.cause?.code;
  const status =
    thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | null)?.statusCode;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || status === 413)
    return new SlipwayError('request.too-large', 'The body is larger than this route takes.', { cause: thrown });
  if (
    code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ||
    code === 'FST_ERR_CTP_EMPTY_JSON_BODY' ||
    code === 'FST_ERR_CTP_INVALID_JSON_BODY' ||
    status === 415 ||
    thrown instanceof SyntaxError
  )
    return new SlipwayError('request.not-json', 'The body could not be read as JSON.', { cause: thrown });
  if (status === 404) return notFound();
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new SlipwayError('request.invalid', 'The request could not be read.', { cause: thrown });
  return storeUnavailable(thrown) ?? thrown;
}

import { SlipwayError, toProblem } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Where the pages of the error codes are. */
export function docsUrl(publicUrl: string): string {
  return new URL('/docs', publicUrl).href;
}

/** The answer to an address that the router itself cannot read; it comes before every hook and filter. */
export function frameworkProblem(publicUrl: string): (error: Error, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, _request, reply) => {
    const problem = toProblem(new SlipwayError('request.invalid', 'The address could not be read.', { cause: error }), { docsUrl: docsUrl(publicUrl) });
    void reply.code(problem.status).type('application/problem+json').send(problem.body);
  };
}

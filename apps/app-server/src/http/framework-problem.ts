import type { Socket } from 'node:net';
import { SlipwayError, toProblem } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Where the pages of the error codes are. */
export function docsUrl(publicUrl: string): string {
  return new URL('/docs', publicUrl).href;
}

/** The answer to an address that the router itself cannot read; it comes before every hook and filter. */
export function frameworkProblem(
  publicUrl: string,
): (error: Error, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, _request, reply) => {
    const problem = toProblem(new SlipwayError('request.invalid', 'The address could not be read.', { cause: error }), {
      docsUrl: docsUrl(publicUrl),
    });
    void reply.code(problem.status).type('application/problem+json').send(problem.body);
  };
}

/**
 * The answer to a malformed or late request; the connection ends with it, since the start of the next request is
 * unknown. A client that has gone away gets no answer.
 */
export function clientProblem(publicUrl: string): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy(error);
      return;
    }
    const { status, body } = toProblem(problemOf(error), { docsUrl: docsUrl(publicUrl) });
    const text = JSON.stringify(body);
    socket.end(
      `HTTP/1.1 ${status} ${status === 413 ? 'Content Too Large' : 'Bad Request'}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    );
  };
}

function problemOf(error: NodeJS.ErrnoException): SlipwayError {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new SlipwayError('request.too-large', 'Address and headers have more than 64 kB.', { cause: error });
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SlipwayError('request.invalid', 'The request did not come to its end in time.', { cause: error });
  return new SlipwayError('request.invalid', 'This is no HTTP request that can be read.', { cause: error });
}

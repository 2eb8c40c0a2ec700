import type { ServerResponse } from 'node:http';
import type { Admission } from '../budgets/admission.js';
import type { Call } from '../calls/call.js';
import { NO_USAGE } from '../calls/usage.js';

/** What costs nothing is not held back by any budget. */
export const FREE: Admission = {
  ceilingUsd: null,
  draw: { holder: null, accounts: [] },
  headers: () => ({}),
  settle: () => {},
  another: () => FREE,
};
const FROM_CACHE = { id: 'cache', price: { input: 0, cachedInput: 0, output: 0 } };

/** The same bytes once more: no tokens, no cost, and a line in the ledger that says so. */
export function answerFromCache(call: Call, response: ServerResponse, body: Buffer, streamed: boolean): void {
  call.asks(FROM_CACHE);
  call.firstByte();
  const headers = streamed
    ? { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
    : { 'content-type': 'application/json', 'x-litellm-response-cost': '0' };
  response.writeHead(200, {
    'x-request-id': call.identity.requestId,
    ...headers,
    'content-length': body.length,
    'x-slipway-cache': 'hit',
  });
  response.end(body);
  call.settle({ status: 'ok', usage: NO_USAGE, source: 'reported' });
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { factsOf, type ModelPrice } from '@slipway/llm';
import { type Logger, traceHeaders, traceIdOf } from '@slipway/telemetry';
import type { Admission, Admitter } from '../budgets/admission.js';
import { type Caching, CallBound, DEFAULT_SEARCHES, pricesCaching } from '../budgets/call-bound.js';
import { answerFromCache, FREE } from '../cache/cached-call.js';
import { cacheKeyOf, mayUseCache, type ResponseCache } from '../cache/response-cache.js';
import { DemoCall } from '../demo-model/demo-call.js';
import { InvalidKeyThrottle, type ShownKey } from '../keys/invalid-key-throttle.js';
import type { KeyCache } from '../keys/key-cache.js';
import type { StoredKey } from '../keys/keys.queries.js';
import { purposeOf } from '../keys/purpose.js';
import type { PromptLog } from '../prompt-log/prompt-log.js';
import type { Dispatchers } from '../routing/dispatchers.js';
import type { Destination, ModelDirectory } from '../routing/model-directory.js';
import { Route } from '../routing/route.js';
import { type AdmittedRequest, type Allowance, admitRequest } from '../wire/admitted-request.js';
import type { Dialect } from '../wire/dialect.js';
import type { Asked } from '../wire/exchange.js';
import { asksForUsage } from '../wire/pass-through-body.js';
import { type RoutingFields, readRoutingFields } from '../wire/routing-fields.js';
import { Call, type CallIdentity, type CallSinks } from './call.js';
import { CallerAnswer, sendDialectError } from './caller-answer.js';
import { Capture } from './capture.js';
import { countClaim, countTokens } from './count-tokens.js';
import { Delivery, type DeliveryOptions } from './delivery.js';
import { DeploymentRequests } from './deployment-requests.js';
import { HeldAnswer } from './held-answer.js';
import { readBody } from './request-body.js';
import { NO_USAGE } from './usage.js';

export interface CompletionHandlerOptions extends CallSinks, DeliveryOptions {
  readonly dispatchers: Dispatchers;
  readonly logger: Logger;
  readonly keys: KeyCache;
  /** The key as who gave the pass pays for one call of it. */
  readonly charged: (key: StoredKey, pass: string) => Promise<StoredKey>;
  readonly models: ModelDirectory;
  readonly admitter: Admitter;
  /** Pause between two pieces of the demo model's text. Milliseconds. */
  readonly demoDelayMs: number;
  /** `null`: off. */
  readonly cache: ResponseCache | null;
  /** `null`: not needed. */
  readonly promptLogs: readonly PromptLog[];
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/** Longest answer that is kept or logged. Bytes. */
const MAX_CAPTURED = 1024 * 1024;
const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['/v1/chat/completions', 'chat'],
  ['/chat/completions', 'chat'],
  ['/v1/responses', 'responses'],
  ['/responses', 'responses'],
  ['/v1/messages', 'messages'],
  ['/messages', 'messages'],
  ['/v1/embeddings', 'embeddings'],
  ['/embeddings', 'embeddings'],
]);
const COUNTS: ReadonlySet<string> = new Set(['/v1/messages/count_tokens', '/messages/count_tokens']);
/** Headers that belong to a dialect and go on with the request. */
const DIALECT_HEADERS = ['anthropic-version', 'anthropic-beta', 'openai-beta'] as const;

/**
 * The hot path. Answers `true` for a request that is for a model and takes it over; the others are for the control
 * routes.
 */
export function createCompletionHandler(
  options: CompletionHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const throttle = new InvalidKeyThrottle(() => options.metrics.refused.inc({ code: 'auth.missing' }));
  return (request, response) => {
    if (request.method !== 'POST') return false;
    const url = request.url ?? '';
    const query = url.indexOf('?');
    const path = query === -1 ? url : url.slice(0, query);
    const counts = COUNTS.has(path);
    const dialect = counts ? 'messages' : DIALECTS.get(path);
    if (dialect === undefined) return false;
    const shown = throttle.keyOf(request, response, dialect);
    if (shown !== null)
      void answer(options, counts ? count : carry, {
        dialect,
        shown,
        request,
        response,
        requestId: requestIdOf(request),
      });
    return true;
  };
}

interface Incoming {
  readonly dialect: Dialect;
  readonly shown: ShownKey;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

type Work = (options: CompletionHandlerOptions, incoming: Incoming) => Promise<void>;

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
}

async function answer(options: CompletionHandlerOptions, work: Work, incoming: Incoming): Promise<void> {
  try {
    await work(options, incoming);
  } catch (thrown) {
    const { dialect, request, response, requestId } = incoming;
    if (response.headersSent || response.destroyed) return void response.destroy();
    // What is left of the body is not read: the connection cannot be used again.
    if (!request.complete) response.setHeader('connection', 'close');
    const { error, status } = sendDialectError(response, dialect, requestId, thrown);
    options.metrics.refused.inc({ code: error.code });
    if (error.code === 'budget.exhausted') options.metrics.budgetStops.inc({ kind: 'budget' });
    if (error.code === 'agent.budget-limit') options.metrics.budgetStops.inc({ kind: 'limit' });
    const line = { request_id: requestId, code: error.code, status, reason: error.message, err: error.more.cause };
    if (status >= 500) options.logger.error(line, 'completion refused');
    else options.logger.debug(line, 'completion refused');
  }
}

/** Who asks, for what, and where it goes. */
async function arrive(options: CompletionHandlerOptions, { dialect, shown, request }: Incoming) {
  const pass = request.headers[CHARGE_PASS_HEADER];
  const known = options.keys.authenticate(shown.token, shown.id, typeof pass === 'string' ? 'pass' : 'owner');
  const own = known instanceof Promise ? await known : known;
  const body = await readBody(request);
  const given = readRoutingFields(body, dialect);
  const destination = options.models.destination(given.model, own, shown.token);
  const admitted = admitRequest(
    body,
    dialect,
    given,
    destination.kind === 'demo' ? DEMO_ALLOWANCE : destination.allowance,
  );
  const { fields } = admitted;
  const key = typeof pass === 'string' ? await options.charged(own, pass) : own;
  const traceparent = request.headers['traceparent'];
  const traceId = traceIdOf(traceparent);
  const asked: Asked = {
    dialect,
    body: admitted.body,
    fields,
    stream: fields.stream,
    headers: dialectHeadersOf(request),
    trace: traceHeaders(traceId),
  };
  return { key, destination, admitted, asked, traceId };
}

async function count(options: CompletionHandlerOptions, incoming: Incoming): Promise<void> {
  const { key, destination, asked, traceId } = await arrive(options, incoming);
  const { response, requestId } = incoming;
  if (response.destroyed) return;
  const deployment =
    destination.kind === 'demo'
      ? null
      : new Route(destination.group, 0, options.random).first(performance.now()).deployment;
  const model = destination.kind === 'demo' ? DEMO_MODEL : destination.group.name;
  const admission = await options.admitter.admit(key, countClaim(model, deployment), options.shutdown);
  if (response.destroyed) return release(admission);
  const identity = { key, requestId, traceId, model, streamed: false, purpose: COUNT_PURPOSE, fromCache: false };
  await countTokens(options, {
    call: new Call(identity, admission, options),
    asked,
    deployment,
    response,
    headers: admission.headers(),
  });
}

/** Of the rows of `count_tokens` in the ledger. */
const COUNT_PURPOSE = 'count-tokens';

async function carry(options: CompletionHandlerOptions, incoming: Incoming): Promise<void> {
  const { key, destination, admitted, asked, traceId } = await arrive(options, incoming);
  const { dialect, request, response, requestId } = incoming;
  if (response.destroyed) return;
  const { body, fields } = asked;
  const model = destination.kind === 'demo' ? DEMO_MODEL : destination.group.name;
  const identity: CallIdentity = {
    key,
    requestId,
    traceId,
    model,
    streamed: fields.stream,
    purpose: purposeOf(request.headers['x-slipway-purpose']),
    fromCache: false,
  };
  const { cache } = options;
  const cacheKey =
    cache !== null && mayUseCache(request.headers['x-slipway-cache'], fields)
      ? cacheKeyOf(key.orgId, model, dialect, body)
      : null;
  const cached = cache === null || cacheKey === null ? null : cache.get(cacheKey, performance.now());
  if (cached !== null) {
    answerFromCache(new Call({ ...identity, fromCache: true }, FREE, options), response, cached.body, fields.stream);
    return;
  }
  const bound = boundOf(model, destination, admitted, dialect);
  const { claim } = bound;
  const admitting = options.admitter.admit(key, claim, options.shutdown);
  const admission = admitting instanceof Promise ? await admitting : admitting;
  try {
    const call = new Call(identity, admission, options, bound);
    if (response.destroyed) return release(admission);
    const capture = watch(options, call, asked, cacheKey);
    const caller = new CallerAnswer(
      response,
      dialect,
      requestId,
      { ...admission.headers(), ...droppedHeader(admitted) },
      capture,
      dialect !== 'chat' || !fields.stream || asksForUsage(body, fields),
    );
    if (destination.kind === 'demo')
      new DemoCall(call, response, caller, asked, { delayMs: options.demoDelayMs, signal: options.shutdown }).start();
    else
      new Delivery(
        call,
        new HeldAnswer(response, caller),
        new DeploymentRequests(call, asked, claim, options.dispatchers),
        new Route(destination.group, claim.maxTokens, options.random),
        options,
      ).start();
  } catch (error) {
    release(admission);
    throw error;
  }
}

const DEMO_ALLOWANCE: Allowance = {
  fields: new Set(),
  serviceTiers: new Set(),
  mediaByUrl: false,
  searches: new Set(),
};
/** Longest list of fields in a header. Characters. */
const MAX_DROPPED = 500;

/** Says what was taken out of the request. */
function droppedHeader({ dropped }: AdmittedRequest): Readonly<Record<string, string>> {
  if (dropped.length === 0) return {};
  return {
    'x-slipway-dropped-fields': dropped
      .join(',')
      .replace(/[^\x21-\x7e]/g, '?')
      .slice(0, MAX_DROPPED),
  };
}

function boundOf(
  model: string,
  destination: Destination,
  { body, fields, attachments, search }: AdmittedRequest,
  dialect: Dialect,
): CallBound {
  const known =
    destination.kind === 'demo'
      ? { facts: factsOf(DEMO_MODEL), prices: DEMO_PRICES }
      : { facts: destination.dearest, prices: destination.prices };
  const { facts, prices } = known;
  return new CallBound({
    model,
    bytes: body.length,
    images: attachments.images,
    documents: attachments.documents,
    caching: prices?.some(pricesCaching) === true ? cachingOf(body, fields) : 'no',
    maxOutput: dialect === 'embeddings' ? 0 : fields.maxOutputTokens,
    choices: fields.choices,
    reasons: fields.at.has('thinking'),
    serviceTier: fields.serviceTier,
    searches:
      search === null ? 0 : Math.min(search.most ?? Number.POSITIVE_INFINITY, facts?.maxSearches ?? DEFAULT_SEARCHES),
    prices,
    contextWindow: facts?.contextWindow ?? null,
    longestAnswer: facts?.maxOutput ?? null,
    defaultAnswer: facts?.defaultOutput ?? null,
    imageTokens: facts?.imageTokens ?? null,
  });
}

const DEMO_PRICES: readonly ModelPrice[] = [{ input: 0, cachedInput: 0, output: 0 }];

/** A mark in a text only makes what is reserved larger. */
export function cachingOf(body: Buffer, { at, escaped }: RoutingFields): Caching {
  if (escaped) return 'hour';
  return at.has('cache_control') || body.includes('cache_control')
    ? body.includes('"1h"')
      ? 'hour'
      : 'minutes'
    : 'no';
}

/** Sees the answer, when it is to be kept or logged. */
function watch(options: CompletionHandlerOptions, call: Call, asked: Asked, cacheKey: string | null): Capture | null {
  const { cache, promptLogs } = options;
  const { key, requestId, model } = call.identity;
  const logs = promptLogs.filter((log) => log.wants(key.orgId));
  if (cacheKey === null && logs.length === 0) return null;
  const capture = new Capture(MAX_CAPTURED);
  call.onSettled = (outcome) => {
    const answered = capture.body();
    if (cacheKey !== null && outcome.status === 'ok' && !capture.cut)
      cache?.put(cacheKey, { body: answered }, performance.now());
    const { orgId, conversationId, userId } = key;
    for (const log of logs)
      log.add({
        orgId,
        conversationId,
        userId,
        requestId,
        model,
        outcome: outcome.status === 'failed' ? outcome.code : outcome.status,
        asked: asked.body,
        answered,
      });
  };
  return capture;
}

/** Nothing was sent: what was held for the call is free again. */
function release(admission: Admission): void {
  admission.settle(NO_USAGE, 0);
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

function dialectHeadersOf(request: IncomingMessage): Readonly<Record<string, string>> {
  let found: Record<string, string> | null = null;
  for (const name of DIALECT_HEADERS) {
    const value = request.headers[name];
    if (typeof value !== 'string') continue;
    found ??= {};
    found[name] = value;
  }
  return found ?? NO_HEADERS;
}

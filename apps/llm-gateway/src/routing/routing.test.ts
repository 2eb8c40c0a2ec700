import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import fc from 'fast-check';
import { Breaker, FIRST_OPEN_MS, LONGEST_OPEN_MS } from './breaker.js';
import { Deployment } from './deployment.js';
import { RateAllowance } from './rate-allowance.js';
import { RETRY_RATIO, RETRY_RESERVE, RetryBudget } from './retry-budget.js';
import { MAX_ATTEMPTS, type ModelGroup, Route } from './route.js';
import { choose, STRATEGIES } from './strategies.js';

const failure = (
  code: 'model.unavailable' | 'model.rate-limited' | 'model.context-exceeded' = 'model.unavailable',
  retryAfterSeconds?: number,
): SlipwayError => new SlipwayError(code, 'scripted', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });

const deployment = (id: string, more: { weight?: number; rpm?: number } = {}): Deployment =>
  new Deployment({
    id,
    target: { provider: 'openai', baseUrl: 'http://localhost/v1', apiKey: null, model: id, speaks: ['chat'] },
    weight: more.weight ?? 1,
    rpm: more.rpm ?? null,
    tpm: null,
    price: null,
    firstByteTimeoutMs: null,
    silenceTimeoutMs: null,
    guarded: false,
    mediaByUrl: false,
  });

const group = (deployments: Deployment[], more: Partial<ModelGroup> = {}): ModelGroup => ({
  name: 'model',
  strategy: 'weighted',
  attempts: MAX_ATTEMPTS,
  deployments,
  fallbacks: { context: [], 'content-policy': [], 'rate-limit': [], any: [] },
  ...more,
});

describe('Breaker', () => {
  it('opens after three failures in a row, lets one probe through when its time has passed, and closes when that succeeds', () => {
    const breaker = new Breaker();
    for (let at = 0; at < 3; at += 1) {
      expect(breaker.allows(at)).toBe(true);
      breaker.failed(at, breaker.begins(at));
    }
    expect(breaker.allows(3)).toBe(false);
    const later = 2 + FIRST_OPEN_MS;
    expect(breaker.state(later)).toBe('half-open');
    const probe = breaker.begins(later);
    expect([probe, breaker.allows(later), breaker.begins(later)]).toEqual([true, false, false]);
    breaker.succeeded(probe);
    expect(breaker.state(later)).toBe('closed');
  });

  it('stays open for longer each time that the probe fails, up to a minute', () => {
    const breaker = new Breaker();
    for (let count = 0; count < 3; count += 1) breaker.failed(0, false);
    let now = 0;
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      waits.push(breaker.openUntil - now);
      now = breaker.openUntil;
      breaker.failed(now, breaker.begins(now));
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(Math.max(...waits)).toBe(LONGEST_OPEN_MS);
  });

  it('opens for half of the last twenty failing, and never while nothing fails', () => {
    const breaker = new Breaker();
    for (let call = 0; call < 1000; call += 1) {
      breaker.succeeded(breaker.begins(call));
      expect(breaker.state(call)).toBe('closed');
    }
    for (let call = 0; call < 20 && breaker.state(call) === 'closed'; call += 1)
      call % 2 === 0 ? breaker.failed(call, false) : breaker.succeeded(false);
    expect(breaker.state(20)).toBe('open');
  });

  it('never has two probes at once, and is never held open for ever, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('begin', 'ok', 'fail', 'cool', 'gone'), fc.nat(7_000)), { maxLength: 200 }),
        (steps) => {
          const breaker = new Breaker();
          const underWay: boolean[] = [];
          let now = 0;
          for (const [step, later] of steps) {
            now += later;
            if (step === 'begin') {
              if (breaker.allows(now)) underWay.push(breaker.begins(now));
            } else {
              const probe = underWay.shift();
              if (probe === undefined) continue;
              if (step === 'ok') breaker.succeeded(probe);
              else if (step === 'fail') breaker.failed(now, probe);
              else if (step === 'cool') breaker.coolDown(now, later, probe);
              else breaker.givenUp(probe);
            }
            expect(underWay.filter(Boolean).length).toBeLessThanOrEqual(1);
          }
          for (const probe of underWay) breaker.givenUp(probe);
          expect(breaker.allows(now + 600_000)).toBe(true);
        },
      ),
    );
  });
});

describe('RetryBudget', () => {
  it('allows no more retries than a fifth of the calls and what it keeps in reserve', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 2_000 }), (steps) => {
        const budget = new RetryBudget();
        let calls = 0;
        let retries = 0;
        for (const isCall of steps) {
          if (isCall) {
            calls += 1;
            budget.called();
          } else if (budget.take()) retries += 1;
        }
        expect(retries).toBeLessThanOrEqual(RETRY_RESERVE + calls * RETRY_RATIO + 1e-6);
      }),
    );
  });
});

describe('RateAllowance', () => {
  it('lets a minute of calls through at once, and then as many as flow in', () => {
    const allowance = new RateAllowance(60);
    for (let call = 0; call < 60; call += 1) {
      expect(allowance.allows(1, 0)).toBe(true);
      allowance.take(1, 0);
    }
    expect(allowance.allows(1, 0)).toBe(false);
    expect(allowance.allows(1, 1_000)).toBe(true);
    expect(new RateAllowance(10).allows(1_000, 0)).toBe(true);
  });
});

describe('choose', () => {
  const candidates = fc.array(
    fc.record({
      weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
      inFlight: fc.nat(50),
      latencyMs: fc.option(fc.double({ min: 0, max: 10_000, noNaN: true })),
      latencyAt: fc.nat(1_000),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('answers one of the candidates, whatever they are and whatever chance says', () => {
    fc.assert(
      fc.property(
        candidates,
        fc.constantFrom(...STRATEGIES),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (all, strategy, random) => {
          expect(all).toContain(choose(all, strategy, 2_000, () => random));
        },
      ),
    );
  });

  it('gives calls in the proportion of the weights', () => {
    const all = [1, 3].map((weight) => ({ weight, inFlight: 0, latencyMs: null, latencyAt: 0 }));
    const counts = all.map(
      (one) =>
        Array.from({ length: 400 }, (_, at) => choose(all, 'weighted', 0, () => at / 400)).filter(
          (chosen) => chosen === one,
        ).length,
    );
    expect(counts).toEqual([100, 300]);
  });

  it('takes the one with the fewest calls for its weight, or the soonest first byte; what was slow long ago is tried again', () => {
    const one = (inFlight: number, weight: number, latencyMs: number | null, latencyAt = 0) => ({
      inFlight,
      weight,
      latencyMs,
      latencyAt,
    });
    const busy = [one(4, 1, null), one(6, 2, null)];
    expect(choose(busy, 'least-busy', 0, () => 0)).toBe(busy[1]);
    const slow = [one(0, 1, 500), one(0, 1, 90)];
    expect(choose(slow, 'latency', 0, () => 0)).toBe(slow[1]);
    const rested = [one(0, 1, 500, 0), one(0, 1, 90, 100_000)];
    expect(choose(rested, 'latency', 100_000, () => 0)).toBe(rested[0]);
  });
});

describe('Route', () => {
  it('asks each place at most once before any is asked again, and never more than three times in all', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 3 }),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (places, attempts, random) => {
          const all = Array.from({ length: places }, (_, index) => deployment(`d${index}`));
          const route = new Route(group(all, { attempts }), 10, () => random);
          const asked = [];
          for (let step = route.first(0) as ReturnType<Route['next']>; step !== null; step = route.next('any', 0)) {
            asked.push(step.deployment);
            step.deployment.failed(failure(), 0, step.deployment.begins(10, 0));
          }
          expect(asked.length).toBeLessThanOrEqual(attempts);
          expect(new Set(asked.slice(0, places)).size).toBe(Math.min(places, asked.length));
        },
      ),
    );
  });

  it('goes to another model for what no other place of the same can help, and ends for what no model can', () => {
    const large = group([deployment('large')], { name: 'large' });
    const small = group([deployment('a'), deployment('b')], {
      fallbacks: { context: [large], 'content-policy': [], 'rate-limit': [], any: [] },
    });
    const route = new Route(small, 10, () => 0);
    route.first(0);
    expect(route.next('context', 0)?.deployment.id).toBe('large');
    const other = new Route(small, 10, () => 0);
    other.first(0);
    expect(other.next('content-policy', 0)).toBeNull();
    expect(other.next(null, 0)).toBeNull();
  });

  it('leaves a place alone for as long as its provider asks, and says for how long when all do', () => {
    const [a, b] = [deployment('a'), deployment('b')];
    const both = group([a, b]);
    a.failed(failure('model.rate-limited', 30), 0, a.begins(1, 0));
    for (let call = 0; call < 20; call += 1)
      expect(new Route(both, 1, Math.random).first(1_000).deployment.id).toBe('b');
    b.failed(failure('model.rate-limited', 10), 0, b.begins(1, 0));
    expect(() => new Route(both, 1, Math.random).first(1_000)).toThrow(
      expect.objectContaining({ code: 'model.rate-limited', more: { retryAfterSeconds: 9 } }),
    );
    expect(new Route(both, 1, Math.random).first(10_000).deployment.id).toBe('b');
  });

  it('asks the place that failed longest ago when all of them fail, and a lone one always', () => {
    const [a, b] = [deployment('a'), deployment('b')];
    for (const [at, one] of [a, b].entries())
      for (let count = 0; count < 3; count += 1) one.failed(failure(), at, one.begins(1, at));
    expect(new Route(group([a, b]), 1, Math.random).first(10).deployment.id).toBe('a');
    expect(new Route(group([a]), 1, Math.random).first(10).deployment.id).toBe('a');
  });

  it('goes elsewhere when the limit of a place is reached', () => {
    const [a, b] = [deployment('a', { rpm: 1 }), deployment('b', { rpm: 1 })];
    const both = group([a, b]);
    const first = new Route(both, 1, () => 0).first(0).deployment;
    first.begins(1, 0);
    const second = new Route(both, 1, () => 0).first(0).deployment;
    expect(second).not.toBe(first);
    second.begins(1, 0);
    expect(() => new Route(both, 1, () => 0).first(0)).toThrow(expect.objectContaining({ code: 'model.rate-limited' }));
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  estimateSeconds,
  type OrgShare,
  positionOf,
  type QueueState,
  serveWaiting,
  type WaitingClaim,
} from './fair-queue.js';
import { FAIR_QUEUE_VECTORS, type FairQueueVector } from './fair-queue.vectors.js';

const LARGEST_COST = 8;

/** What each step of a vector served. */
function replay(vector: FairQueueVector): string[][] {
  let waiting: WaitingClaim[] = [];
  let state: QueueState = new Map();
  let arrival = 0;
  const costs = new Map<string, number>();
  const inUse = new Map<string, number>();
  const hold = (name: string, sign: 1 | -1): void => {
    const orgId = name.split('/')[0] as string;
    inUse.set(orgId, (inUse.get(orgId) ?? 0) + sign * (costs.get(name) ?? 0));
  };
  return vector.steps.flatMap((step) => {
    if ('arrive' in step) {
      for (const text of step.arrive) {
        const [claimId = '', cost, lane] = text.split(':');
        waiting.push({
          claimId,
          orgId: claimId.split('/')[0] as string,
          cost: Number(cost || 1),
          lane: lane === 'batch' ? 'batch' : 'interactive',
          arrival,
        });
        costs.set(claimId, Number(cost || 1));
        arrival += 1;
      }
    } else if ('leave' in step) waiting = waiting.filter((claim) => !step.leave.includes(claim.claimId));
    else if ('end' in step) for (const name of step.end) hold(name, -1);
    else {
      const shares = new Map(
        Object.entries(vector.orgs).map(([orgId, org]) => [orgId, { ...org, inUse: inUse.get(orgId) ?? 0 }]),
      );
      const result = serveWaiting(state, waiting, shares, step.free);
      state = result.state;
      waiting = waiting.filter((claim) => !result.served.includes(claim));
      for (const { claimId } of result.served) hold(claimId, 1);
      return [result.served.map((claim) => claim.claimId)];
    }
    return [];
  });
}

describe('the order of the fair queue', () => {
  for (const vector of FAIR_QUEUE_VECTORS)
    it(vector.name, () => {
      expect(replay(vector)).toEqual(vector.steps.flatMap((step) => ('free' in step ? [step.served] : [])));
    });
});

interface Org {
  weight: number;
  cap: number;
  costs: number[];
}
const cost = fc.constantFrom(1, 2, 4, LARGEST_COST);
const anOrg = (cap: fc.Arbitrary<number>): fc.Arbitrary<Org> =>
  fc.record({ weight: fc.integer({ min: 1, max: 5 }), cap, costs: fc.array(cost, { minLength: 1, maxLength: 6 }) });
const shareOf = (org: Org, inUse = 0): OrgShare => ({ weight: org.weight, cap: org.cap, inUse });
const uncapped = fc.constant(1_000_000);

/** Keeps every organization backlogged with its cycle of costs, and serves one sandbox at a time. */
class Saturated {
  state: QueueState = new Map();
  waiting: WaitingClaim[] = [];
  private arrival = 0;

  constructor(
    private readonly orgs: readonly Org[],
    private readonly depth = 2,
  ) {}

  /** @returns the claim that was served. */
  serveOne(inUse: (orgId: string) => number = () => 0): WaitingClaim | undefined {
    this.orgs.forEach((org, index) => {
      for (
        let have = this.waiting.filter((claim) => claim.orgId === String(index)).length;
        have < this.depth;
        have += 1
      ) {
        const next = org.costs[this.arrival % org.costs.length] as number;
        this.waiting.push({
          claimId: String(this.arrival),
          orgId: String(index),
          cost: next,
          lane: 'interactive',
          arrival: this.arrival,
        });
        this.arrival += 1;
      }
    });
    const shares = new Map(this.orgs.map((org, index) => [String(index), shareOf(org, inUse(String(index)))]));
    const { served, state } = serveWaiting(this.state, this.waiting, shares, 1);
    this.state = state;
    this.waiting = this.waiting.filter((claim) => claim !== served[0]);
    return served[0];
  }
}

describe('I10: the share of an organization', () => {
  it('is at least its part of the weights, less than one turn short, whatever the others ask for and however large their sandboxes are', () => {
    fc.assert(
      fc.property(
        fc.array(anOrg(uncapped), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 300 }),
        (orgs, count) => {
          const queue = new Saturated(orgs);
          const got = orgs.map(() => 0);
          for (let index = 0; index < count; index += 1) {
            const served = queue.serveOne();
            if (served === undefined) throw new Error('nothing was served although all wait');
            const at = Number(served.orgId);
            got[at] = (got[at] ?? 0) + served.cost;
          }
          const all = got.reduce((sum, each) => sum + each, 0);
          const weights = orgs.reduce((sum, org) => sum + org.weight, 0);
          orgs.forEach((org, index) => {
            const part = org.weight / weights;
            // One turn of its own that has not come yet, and what each other may be ahead within a turn.
            const epsilon = org.weight + LARGEST_COST + part * orgs.length * LARGEST_COST;
            expect(got[index]).toBeGreaterThanOrEqual(part * all - epsilon);
          });
        },
      ),
    );
  });

  it('serves each claim within bounded turns, whoever comes and goes meanwhile', () => {
    const turns = fc.array(fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), cost), { maxLength: 3 }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(anOrg(uncapped), fc.array(anOrg(uncapped), { maxLength: 5 }), turns, (mine, others, churn) => {
        const orgs = [mine, ...others];
        const shares = new Map<string, OrgShare>(orgs.map((org, index) => [String(index), shareOf(org)]));
        let waiting: WaitingClaim[] = [];
        let state: QueueState = new Map();
        let arrival = 0;
        const arrive = (orgId: string, size: number): void => {
          waiting.push({ claimId: String(arrival), orgId, cost: size, lane: 'interactive', arrival });
          arrival += 1;
        };
        orgs.forEach((org, index) => {
          for (const size of org.costs) arrive(String(index), size);
        });
        const last = String(mine.costs.length - 1);
        const rounds = Math.ceil(mine.costs.reduce((sum, each) => sum + each, 0) / mine.weight) + 1;
        const perRound = others.reduce((sum, org) => sum + org.weight + LARGEST_COST, 0);
        const bound = rounds * perRound + mine.costs.length;
        for (let served = 0; ; served += 1) {
          expect(served).toBeLessThan(bound);
          for (const [org, size] of churn[served % churn.length] ?? [])
            if (org <= others.length) arrive(String(org), size);
          const result = serveWaiting(state, waiting, shares, 1);
          state = result.state;
          waiting = waiting.filter((claim) => !result.served.includes(claim));
          if (result.served[0]?.claimId === last) return;
        }
      }),
    );
  });

  it('never lets an organization hold more than its cap, and never leaves a sandbox free for which one within its cap waits', () => {
    const caps = fc.integer({ min: 0, max: 12 });
    fc.assert(
      fc.property(fc.array(anOrg(caps), { minLength: 1, maxLength: 5 }), fc.nat(40), (orgs, free) => {
        const waiting = orgs.flatMap((org, index) =>
          org.costs.map(
            (size, at): WaitingClaim => ({
              claimId: `${index}/${at}`,
              orgId: String(index),
              cost: size,
              lane: 'interactive',
              arrival: at * 100 + index,
            }),
          ),
        );
        const shares = new Map(orgs.map((org, index) => [String(index), shareOf(org)]));
        const { served, state } = serveWaiting(new Map(), waiting, shares, free);
        orgs.forEach((org, index) => {
          const own = served.filter((claim) => claim.orgId === String(index));
          const held = own.reduce((sum, claim) => sum + claim.cost, 0);
          expect(held).toBeLessThanOrEqual(org.cap);
          const following = org.costs[own.length];
          if (served.length < free && following !== undefined) expect(held + following).toBeGreaterThan(org.cap);
        });
        for (const [orgId, row] of state)
          expect(row.deficit).toBeLessThan((shares.get(orgId)?.weight ?? 0) + LARGEST_COST);
        expect(state.size).toBe(
          new Set(waiting.filter((claim) => !served.includes(claim)).map((claim) => claim.orgId)).size,
        );
      }),
    );
  });

  it('keeps the order of arrival inside an organization and a lane, and no batch claim goes before an interactive one of its organization', () => {
    const lane = fc.constantFrom('interactive' as const, 'batch' as const);
    const claims = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), cost, lane), { maxLength: 30 });
    fc.assert(
      fc.property(claims, fc.nat(30), (list, free) => {
        const waiting = list.map(
          ([org, size, own], arrival): WaitingClaim => ({
            claimId: String(arrival),
            orgId: String(org),
            cost: size,
            lane: own,
            arrival,
          }),
        );
        const shares = new Map([0, 1, 2, 3].map((org) => [String(org), { weight: org + 1, cap: 1000, inUse: 0 }]));
        const { served } = serveWaiting(new Map(), waiting, shares, free);
        for (const orgId of shares.keys()) {
          const own = served.filter((claim) => claim.orgId === orgId);
          const wanted = waiting
            .filter((claim) => claim.orgId === orgId)
            .sort((a, b) => (a.lane === b.lane ? a.arrival - b.arrival : a.lane === 'interactive' ? -1 : 1));
          expect(own).toEqual(wanted.slice(0, own.length));
        }
      }),
    );
  });

  it('gives the same whether sandboxes come one by one or all at once', () => {
    fc.assert(
      fc.property(fc.array(anOrg(fc.integer({ min: 1, max: 20 })), { minLength: 1, maxLength: 5 }), (orgs) => {
        let waiting = orgs.flatMap((org, index) =>
          org.costs.map(
            (size, at): WaitingClaim => ({
              claimId: `${index}/${at}`,
              orgId: String(index),
              cost: size,
              lane: 'interactive',
              arrival: at * 100 + index,
            }),
          ),
        );
        const held = orgs.map(() => 0);
        const shares = (): Map<string, OrgShare> =>
          new Map(orgs.map((org, index) => [String(index), shareOf(org, held[index])]));
        const atOnce = serveWaiting(new Map(), waiting, shares(), 100).served.map((claim) => claim.claimId);
        const oneByOne: string[] = [];
        let state: QueueState = new Map();
        for (;;) {
          const result = serveWaiting(state, waiting, shares(), 1);
          const claim = result.served[0];
          if (claim === undefined) break;
          oneByOne.push(claim.claimId);
          held[Number(claim.orgId)] = (held[Number(claim.orgId)] ?? 0) + claim.cost;
          state = result.state;
          waiting = waiting.filter((each) => each !== claim);
        }
        expect(oneByOne).toEqual(atOnce);
      }),
    );
  });

  it('refuses what would turn for ever', () => {
    const claim: WaitingClaim = { claimId: 'c', orgId: 'a', cost: 1, lane: 'batch', arrival: 0 };
    const share: OrgShare = { weight: 1, cap: 1, inUse: 0 };
    expect(() => serveWaiting(new Map(), [claim], new Map(), 1)).toThrow(RangeError);
    expect(() => serveWaiting(new Map(), [claim], new Map([['a', { ...share, weight: 0 }]]), 1)).toThrow(RangeError);
    expect(() => serveWaiting(new Map(), [{ ...claim, cost: 0 }], new Map([['a', share]]), 1)).toThrow(RangeError);
  });
});

describe('answer to a waiting claim', () => {
  it('is the number of those that are in fact served before it', () => {
    fc.assert(
      fc.property(
        fc.array(anOrg(fc.integer({ min: 0, max: 12 })), { minLength: 1, maxLength: 4 }),
        fc.nat(5),
        (orgs, before) => {
          const waiting = orgs.flatMap((org, index) =>
            org.costs.map(
              (size, at): WaitingClaim => ({
                claimId: `${index}/${at}`,
                orgId: String(index),
                cost: size,
                lane: 'interactive',
                arrival: at * 100 + index,
              }),
            ),
          );
          const shares = new Map(orgs.map((org, index) => [String(index), shareOf(org)]));
          const first = serveWaiting(new Map(), waiting, shares, before);
          const rest = waiting.filter((claim) => !first.served.includes(claim));
          const later = new Map(
            orgs.map((org, index) => [
              String(index),
              shareOf(
                org,
                first.served
                  .filter((claim) => claim.orgId === String(index))
                  .reduce((sum, claim) => sum + claim.cost, 0),
              ),
            ]),
          );
          const { served } = serveWaiting(first.state, rest, later, 100);
          const positions = rest.map((claim) => positionOf(first.state, rest, later, claim.claimId));
          rest.forEach((claim, index) => {
            const at = served.indexOf(claim);
            expect(positions[index]?.atCap).toBe(at < 0);
            if (at >= 0) expect(positions[index]?.position).toBe(at + 1);
          });
          expect(positions.map((each) => each?.position).sort((a, b) => Number(a) - Number(b))).toEqual(
            rest.map((_, index) => index + 1),
          );
        },
      ),
    );
    expect(positionOf(new Map(), [], new Map(), 'nobody')).toBeNull();
  });

  it('is one refill for the first when sandboxes come slower than that, then the rate of late, and a refill for all when no rate is known', () => {
    expect([
      estimateSeconds(1, 0.1, 3),
      estimateSeconds(3, 0.1, 3),
      estimateSeconds(10, 4, 3),
      estimateSeconds(1, 100, 3),
    ]).toEqual([3, 23, 3, 1]);
    expect([estimateSeconds(1, 0, 2.2), estimateSeconds(50, 0, 2.2)]).toEqual([3, 3]);
  });
});

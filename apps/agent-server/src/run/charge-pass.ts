import { type AgentLog, type AgentPorts, condensationAsked } from '@slipway/agent';
import { CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { CHARGE_PASS_CALLS, CHARGE_PASS_SECONDS } from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import type { LlmRegistry, LlmUsage } from '@slipway/llm';

/** A pass this near to its end is not shown: the gateway would refuse it. Milliseconds. */
const MARGIN_MS = 30_000;
const LONGEST = 200;

/** By which a few model calls count for who asked beside the task. */
export class ChargePass {
  private left = CHARGE_PASS_CALLS;
  private readonly until = performance.now() + CHARGE_PASS_SECONDS * 1000 - MARGIN_MS;

  /**
   * @param spent what a call comes to that its budget does not pay for: `fails`, or it counts for who pays for the
   * `task`, so that a run of theirs does not end by it.
   */
  constructor(
    private readonly pass: string,
    readonly spent: 'fails' | 'task' = 'fails',
  ) {}

  orTask(): ChargePass {
    return new ChargePass(this.pass, 'task');
  }

  /** Takes one call. `null`: it is used up or over, and the call counts for who pays for the task. */
  take(): Readonly<Record<string, string>> | null {
    if (this.left === 0 || performance.now() > this.until) return null;
    this.left -= 1;
    return { [CHARGE_PASS_HEADER]: this.pass };
  }
}

/** @param header as a request brings it. */
export function chargePassOf(header: string | string[] | undefined): ChargePass | null {
  return typeof header === 'string' && header !== '' && header.length <= LONGEST ? new ChargePass(header) : null;
}

/** Models whose calls of one usage come with the pass that `current` names at each call. */
function chargedModels(
  models: AgentPorts['models'],
  usage: LlmUsage,
  current: () => ChargePass | null,
): AgentPorts['models'] {
  return (wanted) => {
    const model = models(wanted);
    if (wanted !== usage) return model;
    return {
      get config() {
        return model.config;
      },
      complete: async (request, options) => {
        const pass = current();
        const headers = pass?.take() ?? null;
        if (headers === null) return model.complete(request, options);
        try {
          return await model.complete(request, { ...options, headers });
        } catch (error) {
          if (pass?.spent !== 'task' || !(error instanceof SlipwayError) || error.code !== 'budget.exhausted')
            throw error;
          return model.complete(request, options);
        }
      },
    };
  };
}

/** Models of a run: a requested summary counts for its requester. */
export function summaryModels(llms: LlmRegistry, log: AgentLog, asked: () => ChargePass | null): AgentPorts['models'] {
  return chargedModels(
    (usage) => llms.get(usage),
    'condenser',
    () => (condensationAsked(log.events) ? asked() : null),
  );
}

/** Ports of a question beside the task: it counts for the pass's user, and its text is not streamed. */
export function portsBeside(ports: AgentPorts, pass: ChargePass | null): AgentPorts {
  return { ...ports, models: chargedModels(ports.models, 'ask-agent', () => pass), onDelta: () => {} };
}

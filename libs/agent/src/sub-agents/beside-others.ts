import { createHash } from 'node:crypto';
import { MAIN_SESSION, type SandboxAction } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { ToolPort } from '../ports.js';

/** What there is once in a sandbox and keeps a state between calls. */
const SINGLE: Readonly<Record<string, (kind: SandboxAction['kind']) => boolean>> = {
  'The browser': (kind) => kind.startsWith('Browser'),
  'The Python kernel': (kind) => kind === 'IPythonRunCellAction',
};

/**
 * The sandbox's tools for sub-agents that work at the same time: each has a terminal of its own, and what there is only
 * once belongs to the first that uses it, until that one has ended. So none types into a program of another, or turns
 * another's page.
 */
export function toolsBesideOthers(tools: ToolPort): { of(agent: string): ToolPort; ended(agent: string): void } {
  const held = new Map<string, string>();
  return {
    of: (agent) => ({
      execute: (action, context) => {
        const [what] = Object.entries(SINGLE).find(([, is]) => is(action.kind)) ?? [];
        if (what !== undefined) {
          const holder = held.get(what) ?? agent;
          held.set(what, holder);
          if (holder !== agent)
            return Promise.reject(
              new SlipwayError(
                'sandbox.tool-unavailable',
                `${what} is in use by another sub-agent, "${holder}", until its task has ended. Do without it, or finish and say that it is needed.`,
              ),
            );
        }
        const isMain = action.kind === 'TerminalAction' && (action.session ?? MAIN_SESSION) === MAIN_SESSION;
        return tools.execute(isMain ? { ...action, session: sessionOf(agent) } : action, context);
      },
    }),
    ended: (agent) => {
      for (const [what, holder] of held) if (holder === agent) held.delete(what);
    },
  };
}

/**
 * A terminal's name that a user recognizes, unique among the agents. A name that is invalid for a terminal becomes a
 * part of it and a distinguishing suffix.
 */
function sessionOf(agent: string): string {
  const name = `agent-${agent.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}`;
  if (name === `agent-${agent}` && name.length <= 40) return name;
  return `${name.slice(0, 31)}-${createHash('sha256').update(agent).digest('hex').slice(0, 8)}`;
}

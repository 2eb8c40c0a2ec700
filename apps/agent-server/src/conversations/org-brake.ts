import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ConfirmationMode, type OrgBrake, type RespondToConfirmationRequest, type StartConversationRequest, THROUGH_GATEWAY_HEADER } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import type { Route } from '../http/router.js';

/** True for a person or their program, who come by sandbox-gateway; false for Slipway's own services. */
export function isOutside(request: IncomingMessage): boolean {
  return request.headers[THROUGH_GATEWAY_HEADER] !== undefined;
}

/** What a start says for the app (where the log goes, what the organization wants) is the app's alone to say. @throws SlipwayError `permission.denied`. */
export function assertOfTheApp(request: IncomingMessage, { slipway }: StartConversationRequest): void {
  if (slipway !== undefined && isOutside(request)) throw notYours();
}

function notYours(): SlipwayError {
  return new SlipwayError('permission.denied', "Only Slipway's own services say this to a sandbox.");
}

const Kept = z.object({ floor: ConfirmationMode, fourEyes: z.boolean() });

function keptIn(file: string): OrgBrake | undefined {
  try {
    return Kept.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Who answered is known to Slipway alone: from outside anybody could be named. */
export function withoutName(answer: RespondToConfirmationRequest): RespondToConfirmationRequest {
  if (answer.slipway === undefined) return answer;
  const { by: _by, rule, ...rest } = answer.slipway;
  const { by: _ruleBy, ...unnamed } = rule ?? {};
  return { ...answer, slipway: { ...rest, ...(rule === undefined ? {} : { rule: unnamed as typeof rule }) } };
}

const CONVERSATION = '/api/conversations/:id';
const CHANGES: ReadonlySet<string> = new Set([`${CONVERSATION}/confirmation_policy`, `${CONVERSATION}/security_analyzer`]);
const AGENTS: ReadonlySet<string> = new Set(['/api/conversations', `${CONVERSATION}/fork`]);

/**
 * What the organization decided of asking first, against who reaches this sandbox by sandbox-gateway: with the session key in their hands agent-server would take their word for
 * anything. Slipway's own services are not held up; they look at the organization's settings themselves.
 */
export class Brake {
  private held: OrgBrake;

  /** @param file where it is kept: another life of this process holds it too, before the app has said anything. */
  constructor(private readonly file: string) {
    this.held = keptIn(file) ?? { floor: 'never', fourEyes: false };
  }

  /** What the app said last, at a start or after a change. A full disk keeps it from no one in this life. */
  hold(brake: OrgBrake | undefined): void {
    if (brake === undefined || isDeepStrictEqual(brake, this.held)) return;
    this.held = brake;
    try {
      mkdirSync(path.dirname(this.file), { recursive: true });
      writeFileSync(`${this.file}.new`, JSON.stringify(brake), { mode: 0o600 });
      renameSync(`${this.file}.new`, this.file);
    } catch {}
  }

  /** @throws SlipwayError `conversation.four-eyes`. A no needs nobody else; it is the app's to take, all the same, for it knows who says it. */
  assertMayAnswer(request: IncomingMessage): void {
    if (isOutside(request) && this.held.fourEyes)
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization somebody else has to say yes, in Slipway: there it is known who does. A message, a pause or an interrupt is a no.',
      );
  }

  /** The same routes, refused to people where they would get around the organization. */
  guard(routes: readonly Route[]): Route[] {
    return routes.map((route) => ({
      ...route,
      handle: (call) => {
        if (isOutside(call.request)) this.assertAllowed(route);
        if (route.path === `${CONVERSATION}/events/respond_to_confirmation`) this.assertMayAnswer(call.request);
        return route.handle(call);
      },
    }));
  }

  private assertAllowed({ method, path }: Route): void {
    if (path.startsWith('/api/slipway/')) throw notYours();
    if (method !== 'POST') return;
    if (CHANGES.has(path) && this.held.floor !== 'never')
      throw new SlipwayError('permission.denied', 'The organization says how often its agents ask. A conversation may ask more often: change that in Slipway.');
    if (AGENTS.has(path) && (this.held.floor !== 'never' || this.held.fourEyes))
      throw new SlipwayError('permission.denied', 'In this organization a person approves what agents do: start them in Slipway.');
  }
}

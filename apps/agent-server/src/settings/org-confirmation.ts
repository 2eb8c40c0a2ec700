import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type StartConversationRequest } from '@slipway/contracts/agent';
import { OrgConfirmationPolicy } from '@slipway/contracts/conversations';
import { SlipwayError } from '@slipway/errors';
import { actsForApp, type Caller } from '../activation/caller.js';
import type { Route } from '../http/router.js';

/**
 * What a start says for the app (where the log goes, what the organization wants) is the app's alone to say. @throws
 * SlipwayError `permission.denied`.
 */
export function assertOfTheApp(caller: Caller, { slipway }: StartConversationRequest): void {
  if (slipway !== undefined && !actsForApp(caller)) throw notYours();
}

function notYours(): SlipwayError {
  return new SlipwayError('permission.denied', "Only Slipway's own services say this to a sandbox.");
}

function keptIn(file: string): OrgConfirmationPolicy | undefined {
  try {
    return OrgConfirmationPolicy.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

const CONVERSATION = '/api/conversations/:id';
const ANSWER = `${CONVERSATION}/events/respond_to_confirmation`;
const HALTS: ReadonlySet<string> = new Set([`${CONVERSATION}/pause`, `${CONVERSATION}/interrupt`]);
const CHANGES: ReadonlySet<string> = new Set([
  `${CONVERSATION}/confirmation_policy`,
  `${CONVERSATION}/security_analyzer`,
]);
const AGENTS: ReadonlySet<string> = new Set(['/api/conversations', `${CONVERSATION}/fork`]);

/**
 * Enforces the organization's confirmation policy on every caller without the app's key. The app is not limited: it
 * reads the organization's settings itself at each answer.
 */
export class OrgConfirmation {
  private held: OrgConfirmationPolicy;

  /**
   * @param directory where the policy is kept, so that the next process enforces it before the app has sent anything.
   */
  constructor(private readonly directory: string) {
    // `brake.json` was written by the release before; it goes in 0.2.0.
    this.held = keptIn(this.file) ?? keptIn(path.join(directory, 'brake.json')) ?? { floor: 'never', fourEyes: false };
  }

  private get file(): string {
    return path.join(this.directory, 'org-confirmation.json');
  }

  /**
   * The newest policy of the app, at a start or after a change. It holds in this process even when the disk is full.
   */
  hold(policy: OrgConfirmationPolicy | undefined): void {
    if (policy === undefined || isDeepStrictEqual(policy, this.held)) return;
    this.held = policy;
    try {
      mkdirSync(this.directory, { recursive: true });
      writeFileSync(`${this.file}.new`, JSON.stringify(policy), { mode: 0o600 });
      renameSync(`${this.file}.new`, this.file);
    } catch {}
  }

  /** True while each action needs its own second user: nothing is allowed ahead of time then. */
  get fourEyes(): boolean {
    return this.held.fourEyes;
  }

  /**
   * Under four eyes only the app takes an answer: it alone knows who wrote what the agent works on, and asks it at each
   * answer. A no needs nobody else; it is the app's to take all the same, for it knows who says it.
   * @throws SlipwayError `conversation.four-eyes`.
   */
  assertMayAnswer(caller: Caller): void {
    if (!this.held.fourEyes || caller.kind === 'app') return;
    const detail =
      caller.kind === 'unauthenticated' && caller.mayBeEarlierApp
        ? 'This sandbox was started by an earlier release, which cannot prove who approves. Pause the conversation and resume it, then answer again.'
        : 'In this organization somebody else has to say yes, in Slipway: there it is known who does. A message, a pause or an interrupt is a no.';
    throw new SlipwayError('conversation.four-eyes', detail);
  }

  /**
   * Who steers an agent is somebody under four eyes: an approval must not come from them. @throws SlipwayError
   * `conversation.four-eyes`.
   */
  assertKnown(caller: Caller): void {
    if (!this.held.fourEyes || caller.kind === 'user' || actsForApp(caller)) return;
    throw new SlipwayError(
      'conversation.four-eyes',
      'In this organization whoever steers an agent has a name, and the session key has none: come by sandbox-gateway, or through Slipway.',
    );
  }

  /**
   * Is this caller's run of what waits their yes, as OpenHands' clients mean it? Never the app's, and never where the
   * organization wants to be asked: there a yes is said in so many words. @param isOfTheApp whether the app owns the
   * conversation: one of a bare sandbox has nobody else.
   */
  takesRunForYes(caller: Caller, isOfTheApp: boolean): boolean {
    if (this.held.fourEyes || this.held.floor !== 'never') return false;
    return caller.kind === 'user' || (caller.kind === 'unauthenticated' && !isOfTheApp);
  }

  /** The same routes, refused to others than the app where they would get around the organization. */
  guard(routes: readonly Route[]): Route[] {
    return routes.map((route) => ({
      ...route,
      handle: (call) => {
        if (!actsForApp(call.caller)) this.assertAllowed(route);
        if (route.path === ANSWER) this.assertMayAnswer(call.caller);
        if (steers(route)) this.assertKnown(call.caller);
        return route.handle(call);
      },
    }));
  }

  private assertAllowed({ method, path }: Route): void {
    if (path.startsWith('/api/slipway/')) throw notYours();
    if (method !== 'POST') return;
    if (CHANGES.has(path) && this.held.floor !== 'never')
      throw new SlipwayError(
        'permission.denied',
        'The organization says how often its agents ask. A conversation may ask more often: change that in Slipway.',
      );
    if (AGENTS.has(path) && (this.held.floor !== 'never' || this.held.fourEyes))
      throw new SlipwayError(
        'permission.denied',
        'In this organization a person approves what agents do: start them in Slipway.',
      );
  }
}

/** Changes something of a conversation, and does not only halt it. */
function steers({ method, path }: Route): boolean {
  return method !== 'GET' && path.startsWith(CONVERSATION) && !HALTS.has(path);
}

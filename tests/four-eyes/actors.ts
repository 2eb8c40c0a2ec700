import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';

/**
 * Who acts: members of one organization; Ada owns the conversation, the robot is a service account of Bob's with a key
 * of Carol's, and has made another one itself.
 */
export const ACTORS = ['ada', 'bob', 'carol', 'dave', 'robot', 'made'] as const;
export type Actor = (typeof ACTORS)[number];
export type ServiceAccount = 'robot' | 'made';

export const isAccount = (actor: Actor): actor is ServiceAccount => actor === 'robot' || actor === 'made';

export interface Company {
  readonly people: Readonly<Record<Exclude<Actor, ServiceAccount>, User>>;
  readonly accounts: Readonly<Record<ServiceAccount, { readonly id: string; readonly key: string }>>;
}

/** Who wrote, and in which turn. */
export type Written = { readonly by: Actor; readonly turn: number };
/** A yes that the app took. */
export type Given = { readonly by: Actor; readonly ids: readonly string[] };

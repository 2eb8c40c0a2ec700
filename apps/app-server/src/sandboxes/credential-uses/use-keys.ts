import { createHash } from 'node:crypto';
import type { CredentialUseQuestion, Place } from '@slipway/contracts/credentials';

type Asked = Pick<
  CredentialUseQuestion,
  'credential' | 'method' | 'path' | 'queryHash' | 'bodyBytes' | 'bodyType' | 'refs'
>;

/** What yeses and counts of one request are found by. SHA-256 in base64url each. */
export interface UseKeys {
  /** The place with what it asks: a yes does not outlive a change of it. */
  readonly place: string;
  /** The place alone: another limit goes on counting. */
  readonly counted: string;
  /** What a yes for once is about: the path for a first use, all that is known of the request for each use. */
  readonly asked: string;
  /** All that is known of the request: what a repeated question must repeat. */
  readonly request: string;
}

export function keysOf(place: Place, question: Asked & Pick<CredentialUseQuestion, 'claim' | 'conversation'>): UseKeys {
  const { credential, method, path, queryHash, bodyBytes, bodyType, refs } = question;
  const whole = [credential, placeKey(place), method, path, refs, queryHash, bodyBytes, bodyType];
  return {
    place: placeKey(place),
    counted: hash(wordsOf(place)),
    asked: hash(place.ask === 'each-use' ? whole : whole.slice(0, 5)),
    request: hash([...whole, question.claim, question.conversation]),
  };
}

export const placeKey = (place: Place): string =>
  hash([...wordsOf(place), place.ask ?? 'never', place.usesPerConversation ?? null]);

/** In an order of its own: the database keeps the keys of an object in another one. */
function wordsOf({ host, port, methods, paths, git, foreign, websocket }: Place): unknown[] {
  return [host, port, methods ?? null, paths ?? null, git?.push ?? null, foreign, websocket ?? false];
}

const hash = (words: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(words)).digest('base64url');

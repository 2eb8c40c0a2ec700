import { type BrokerLine, isAskedPlace, type Place } from '@slipway/contracts/credentials';
import { matchesPath } from '@slipway/net';
import { type GitRequest, readGitRequest, wordsOfGit } from '../git/git-request.js';
import type { Chosen, HeldCredential } from './credential.js';
import { misplaced, unsupported } from './refusal.js';
import { type RequestHead, valuesOf } from './request-head.js';

/** By these some servers take another method or another path than the written one. */
export const METHOD_OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'];
export const PATH_OVERRIDES = ['x-original-url', 'x-rewrite-url'];
/** Places that a refusal names. */
const MANY = 5;

/** Every credential with a place of this request, the narrowest scope first. */
export function placesOf(head: RequestHead, line: BrokerLine, credentials: readonly HeldCredential[]): Chosen[] {
  const git = readGitRequest(head);
  return credentials.flatMap((credential) => {
    const place = strictest(credential.use.places.filter((each) => isAt(each, head, line, git)));
    return place === undefined ? [] : [{ credential, place, git: place.git === undefined ? null : git }];
  });
}

/**
 * The credential of this request: one whose reference it brings, else the first.
 * @param credentials all of them, for the words of a refusal. `found`: those with a place; `brought`: references that
 * are in the request.
 * @throws SlipwayError `credential.misplaced`, `credential.unsupported` when it is at none of their places.
 */
export function choose(
  head: RequestHead,
  line: BrokerLine,
  credentials: readonly HeldCredential[],
  { found, brought }: { readonly found: readonly Chosen[]; readonly brought: ReadonlySet<string> },
): Chosen {
  const chosen =
    found.find(({ credential: { reference } }) => reference !== null && brought.has(reference)) ?? found[0];
  if (chosen === undefined) throw nowhere(head, line, credentials);
  const { place } = chosen;
  const overrides = [
    ...(place.methods === undefined ? [] : METHOD_OVERRIDES),
    ...(place.paths === undefined ? [] : PATH_OVERRIDES),
  ];
  for (const name of overrides)
    if (valuesOf(head.headers, name).length > 0)
      throw misplaced(`The header ${name} asks ${line.host} for something else than the request says.`);
  return chosen;
}

/** Of places that fit a request one that asks counts, then one that is limited, then the first. */
function strictest(places: readonly Place[]): Place | undefined {
  const asks = (ask: Place['ask']): Place | undefined => places.find((place) => place.ask === ask);
  return asks('each-use') ?? asks('first-use') ?? places.find(isAskedPlace) ?? places[0];
}

function isAt(place: Place, head: RequestHead, line: BrokerLine, git: GitRequest | null): boolean {
  if (place.host !== line.host || place.port !== line.port) return false;
  if (place.methods !== undefined && !place.methods.some((method) => method === head.method)) return false;
  if (place.git !== undefined && git === null) return false;
  const path = place.git === undefined || git === null ? head.target.path : git.repository;
  return place.paths === undefined || place.paths.some((pattern) => matchesPath(withoutGit(pattern, place), path));
}

const withoutGit = (pattern: string, { git }: Place): string =>
  git === undefined ? pattern : pattern.replace(/\.git$/, '');

function nowhere(head: RequestHead, { host, port }: BrokerLine, credentials: readonly HeldCredential[]) {
  const places = credentials.flatMap(({ name, use }) =>
    use.places.filter((place) => place.host === host && place.port === port).map((place) => ({ name, place })),
  );
  if (places.length === 0)
    return misplaced(`This conversation has no credential for ${host}, and without one nothing is passed on there.`);
  const git = places.some(({ place }) => place.git !== undefined) ? wordsOfGit(head) : null;
  if (git !== null) return unsupported(git);
  const words = places.slice(0, MANY).map(({ name, place }) => `${name}: ${wordsOf(place)}`);
  return misplaced(
    `${head.method} of this path is at no place of a credential of ${host}. Places are ${words.join('; ')}${places.length > MANY ? '; and others' : ''}.`,
  );
}

function wordsOf({ methods, paths, git }: Place): string {
  const where = (paths ?? ['/**']).slice(0, MANY).join(', ');
  return `${git === undefined ? '' : 'git '}${methods === undefined ? '' : `${methods.join(', ')} `}${where}`;
}
